// SPDX-License-Identifier: GPL-2.0-only
/* Overrides as sections and rules of a policy, and as lines of a file. */
#include "test-core.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "config/keys.h"
#include "daemon/modules/overrides.h"
#include "fake-files.h"
#include "shared/cleanup.h"

static struct policy policy;
static struct overrides overrides;
static char path[96];

static int set_up(void **state)
{
	if (fake_files_set_up(state) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/" OVERRIDE_FILE, fake_root);
	return 0;
}

static int tear_down(void **state)
{
	overrides_clear(&overrides);
	return fake_files_tear_down(state);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void make_policy(uint32_t n_rules)
{
	policy_init(&policy);
	policy.n_rules = n_rules;
	for (uint32_t i = 0; i < n_rules; i++)
		snprintf(policy.rules[i].name, sizeof(policy.rules[i].name), "r%u", i);
	policy.rules[1].domain_cpu = 4;
}

/* Returns what is wrong with the parameters of a call, or NULL. */
static const char *parse(const char *parameters, struct override *ret)
{
	static char wrong[32];
	json_auto_t *json = json_loads(parameters, 0, NULL);
	const struct call call = { .parameters = json };
	const char *found;

	assert_non_null(json);
	found = override_parse(&call, ret);
	snprintf(wrong, sizeof(wrong), "%s", found ?: "");
	return found ? wrong : NULL;
}

/* Adds one that ends after as many seconds as its number. */
static void add(uint32_t id, const char *parameters)
{
	struct override *override = &overrides.entries[overrides.n++];

	assert_null(parse(parameters, override));
	override->target.id = id;
	override->end_ns = id * NS_PER_S;
}

#define OF_TASK(_settings)	      "{\"pid\": 812, \"settings\": {" _settings "}}"
#define OF_RULE(_settings)	      "{\"rule\": \"r1\", \"settings\": {" _settings "}}"
#define OF_DOMAIN(_domain, _settings) "{\"domain\": \"" _domain "\", \"settings\": {" _settings "}}"
#define CAP			      "\"cap\": \"30%\""

TEST(test_parse)
{
	static const struct {
		const char *parameters, *wrong;
	} cases[] = {
		{ "{\"settings\": {}}", "settings" },
		{ "{\"domain\": \"policy0\", \"pid\": 5, \"settings\": {}}", "pid" },
		{ "{\"domain\": \"policy0\", \"rule\": \"a\", \"settings\": {}}", "rule" },
		{ "{\"pid\": 5, \"rule\": \"a\", \"settings\": {}}", "pid" },
		{ "{\"rule\": \"thirty-two-letters-are-one-too-many\", \"settings\": {}}", "rule" },
		{ "{\"rule\": \"a\", \"children\": true, \"settings\": {}}", "children" },
		{ OF_DOMAIN("policy0", CAP), "cap" },
		{ OF_DOMAIN("policy0", "\"headroom\": \"110%\""), "headroom" },
		{ OF_DOMAIN("policy0", "\"max-frequency\": \"1\""), "max-frequency" },
		{ OF_DOMAIN("policy0", "\"max-frequency\": 1"), "max-frequency" },
		{ OF_DOMAIN("policy0", "\"max-frequency\": \"1GHz\", \"min-frequency\": \"2GHz\""),
		  "min-frequency" },
		{ OF_TASK("\"max-frequency\": \"1GHz\""), "max-frequency" },
		{ OF_TASK("\"cap\": \"2ms\""), "cap" },
		{ OF_TASK("\"cap\": \"99999/1024\""), "cap" },
		{ OF_TASK("\"response\": \"9us\""), "response" },
		{ OF_TASK("\"idle-latency\": \"50%\""), "idle-latency" },
		/* What finds tasks, and what is for a group of them, is no override's. */
		{ OF_TASK("\"comm\": \"a\""), "comm" },
		{ OF_TASK("\"class\": \"batch\""), "class" },
		{ OF_TASK("\"placement\": \"fork-spread\""), "placement" },
		{ OF_TASK("\"inherit\": \"no\""), "inherit" },
		{ OF_TASK("\"cap\": \"                                                          "
			  "       1%\""),
		  "cap" },
	};
	struct override one;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *wrong = parse(cases[i].parameters, &one);

		assert_string_equal(wrong ?: cases[i].parameters, cases[i].wrong);
	}
}

/* The oldest last, and that of a rule only where its rule holds. */
FIXTURE_TEST(test_fill)
{
	make_policy(2);
	add(3, OF_TASK(CAP));
	add(4, OF_RULE(CAP));
	overrides_fill(&overrides, &policy);
	assert_int_equal(policy.n_rules, 2);
	assert_int_equal(policy.n_overrides, 2);
	assert_string_equal(policy.rules[63].name, "override-3");
	assert_int_equal(policy.rules[63].domain_cpu, POLICY_ANY_DOMAIN);
	assert_int_equal(policy.rules[63].properties.cap.value, 30);
	assert_string_equal(policy.rules[62].name, "override-4");
	assert_int_equal(policy.rules[62].domain_cpu, 4);
	overrides_remove(&overrides, overrides_find(&overrides, 3));
	overrides_fill(&overrides, &policy);
	assert_int_equal(policy.n_overrides, 1);
	assert_string_equal(policy.rules[63].name, "override-4");
	assert_null(overrides_find(&overrides, 3));
}

/* Of each limit of a domain the newest override that gives it, and then the policy's. */
FIXTURE_TEST(test_domains)
{
	struct policy_domain found;

	make_policy(0);
	policy.n_domain_sections = 1;
	strcpy(policy.domain_sections[0].name, "policy4");
	policy.domain_sections[0].given = POLICY_DOMAIN_BIT(max) | POLICY_DOMAIN_BIT(rise_time_ns);
	policy.domain_sections[0].values.max.kind = POLICY_FREQUENCY_PERCENT;
	policy.domain_sections[0].values.max.value = 50;
	policy.domain_sections[0].values.rise_time_ns = 7;
	add(3, OF_DOMAIN("policy4", "\"min-frequency\": \"300MHz\""));
	add(7, OF_DOMAIN("policy4", "\"max-frequency\": \"700MHz\""));
	add(8, OF_DOMAIN("policy4", "\"max-frequency\": \"60%\""));
	add(9, OF_DOMAIN("policy0", "\"min-frequency\": \"1GHz\""));
	add(10, OF_TASK(CAP));
	overrides_fill(&overrides, &policy);
	policy_domain_for(&policy, "policy4", &found);
	assert_int_equal(found.min.value, 300000);
	assert_int_equal(found.min.override, 3);
	assert_int_equal(found.max.kind, POLICY_FREQUENCY_PERCENT);
	assert_int_equal(found.max.value, 60);
	assert_int_equal(found.max.override, 8);
	assert_int_equal(found.rise_time_ns, 7);

	overrides_clear(&overrides);
	overrides_fill(&overrides, &policy);
	policy_domain_for(&policy, "policy4", &found);
	assert_int_equal(found.min.kind, POLICY_FREQUENCY_NONE);
	assert_int_equal(found.max.value, 50);
	assert_int_equal(found.max.override, 0);
}

/* Rules of files come first where there is no room for both; the newest overrides go. */
FIXTURE_TEST(test_ends)
{
	make_policy(2);
	add(5, OF_RULE(CAP));
	add(6, OF_TASK(CAP));
	add(7, OF_TASK(CAP));
	overrides_fill(&overrides, &policy);
	assert_null(overrides.entries[0].ended);
	make_policy(1);
	overrides_fill(&overrides, &policy);
	assert_string_equal(overrides.entries[0].ended, "the policy has no such rule any more");
	assert_int_equal(policy.n_overrides, 2);
	make_policy(POLICY_RULES_MAX - 1);
	assert_int_equal(overrides_room(&policy, false), 1);
	assert_int_equal(overrides_room(&policy, true), POLICY_OVERRIDES_MAX);
	overrides_fill(&overrides, &policy);
	assert_null(overrides.entries[1].ended);
	assert_non_null(overrides.entries[2].ended);
	assert_int_equal(policy.n_overrides, 1);
}

/* A number that another task has since, or none; the override of the task that is there stays. */
FIXTURE_TEST(test_end_task)
{
	add(1, OF_TASK(CAP));
	add(2, "{\"pid\": 900, \"settings\": {" CAP "}}");
	overrides.entries[0].target.start_ns = 7;
	overrides_end_task(&overrides, 812, 7);
	assert_null(overrides.entries[0].ended);
	overrides_end_task(&overrides, 812, 8);
	assert_string_equal(overrides.entries[0].ended, OVERRIDE_TASK_GONE);
	assert_null(overrides.entries[1].ended);
}

static void fill(void)
{
	add(3, OF_DOMAIN("policy4", "\"min-frequency\": \"1.2GHz\", \"max-frequency\": \"60%\""));
	add(9,
	    "{\"pid\": 812, \"children\": true, \"settings\": {" CAP ", \"io-boost\": \"off\"}}");
	overrides.entries[1].target.start_ns = 5 * NS_PER_S;
	overrides.entries[1].uid = 1000;
	add(11, OF_RULE("\"response\": \"700us\""));
}

static void save(void)
{
	assert_int_equal(overrides_save(&overrides, fake_root), 0);
	overrides_clear(&overrides);
}

FIXTURE_TEST(test_file)
{
	/* Any user names tasks as they like. What is no text is kept as it is shown. */
	static const char *const names[][2] = {
		{ "make", "make" },
		{ "a\nend 1\n", "a\nend 1\n" },
		{ "a b) 1 2", "a b) 1 2" },
		{ "\x1b[31m\xff", "\x1b[31m\xef\xbf\xbd" },
		{ "", "" },
		{ "\\012", "\\012" },
	};
	const struct override *one = &overrides.entries[1];

	assert_int_equal(overrides_load(&overrides, fake_root, 0), 0);
	assert_int_equal(overrides.n, 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		fill();
		strcpy(overrides.entries[1].comm, names[i][0]);
		save();
		assert_int_equal(overrides_load(&overrides, fake_root, NS_PER_S), 0);
		assert_int_equal(overrides.n, 3);
		assert_string_equal(overrides.entries[0].domain, "policy4");
		assert_int_equal(json_object_size(overrides.entries[0].settings), 2);
		assert_int_equal(one->target.id, 9);
		assert_int_equal(one->target.pid, 812);
		assert_true(one->target.children);
		assert_int_equal(one->target.start_ns, 5 * NS_PER_S);
		assert_int_equal(one->end_ns, 9 * NS_PER_S);
		assert_int_equal(one->uid, 1000);
		assert_string_equal(one->comm, names[i][1]);
		assert_string_equal(json_string_value(json_object_get(one->settings, "io-boost")),
				    "off");
		assert_string_equal(overrides.entries[2].target.rule, "r1");
		overrides_clear(&overrides);
	}

	/* What ended meanwhile is left out, and an empty table is no file. */
	assert_int_equal(overrides_load(&overrides, fake_root, 9 * NS_PER_S), 0);
	assert_int_equal(overrides.n, 1);
	assert_int_equal(overrides.entries[0].target.id, 11);
	overrides_clear(&overrides);
	save();
	assert_int_equal(access(path, F_OK), -1);
	fill();
	assert_int_equal(overrides_save(&overrides, "/nowhere"), -ENOENT);
}

static const char *const bad_lines[] = {
	"",
	"12000000000 0",
	"12000000000 {\"id\":12,\"pid\":5,\"settings\":{" CAP "}}",
	"12000000000 0 {\"id\":12,\"pid\":5,\"settings\":{" CAP "}",
	"12000000000 0 {\"id\":11,\"pid\":5,\"settings\":{" CAP "}}", /* there is an eleventh */
	"12000000000 0 {\"pid\":5,\"settings\":{" CAP "}}",
	"12000000000 0 {\"id\":12,\"settings\":{" CAP "}}",
	"12000000000 0 {\"id\":12,\"pid\":5,\"settings\":{\"cap\":\"30\"}}",
	"12000000000 0 {\"id\":12,\"pid\":5,\"settings\":{}}",
	"12000000000 0 {\"id\":12,\"pid\":5,\"comm\":\"forty-eight letters, which is more than fifteen of "
	"three\",\"settings\":{" CAP "}}",
	"12000000000 0 []",
};

/* A file with a line that is not of the form changes nothing. */
FIXTURE_TEST(test_file_refused)
{
	_cleanup_free_ char *text = NULL;
	char bad[4096];

	fill();
	save();
	text = test_read(path);
	*strstr(text, "end ") = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(bad_lines); i++) {
		snprintf(bad, sizeof(bad), "%s%s\nend 4\n", text, bad_lines[i]);
		test_write(path, bad);
		assert_int_equal(overrides_load(&overrides, fake_root, 0), -EBADMSG);
		assert_int_equal(overrides.n, 0);
	}
}
