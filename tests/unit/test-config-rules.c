// SPDX-License-Identifier: GPL-2.0-only
/* The sections [rule NAME] and [class NAME]: what they mean, and what is refused. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/keys.h"
#include "test-config.h"

static struct policy_draft draft;

/* Each text is a file of its own, read after the one before. */
static void read_texts(const char *const texts[])
{
	char *message = NULL;

	test_draft_init(&draft);
	for (int i = 0; texts[i]; i++) {
		static const char *const names[] = { "/etc/wakegov/wakegov.conf",
						     "/etc/wakegov/wakegov.conf.d/50-x.conf" };

		assert_int_equal(
			policy_parse(&draft, names[i], texts[i], strlen(texts[i]), &message), 0);
	}
	assert_int_equal(policy_rules_finish(&draft, &message), 0);
}

static const struct policy_rule *read_one(const char *text)
{
	const char *const texts[] = { text, NULL };

	read_texts(texts);
	assert_int_equal(draft.policy.n_rules, 1);
	return &draft.policy.rules[0];
}

TEST(test_all_keys)
{
	const struct policy_rule *rule = read_one(
		"[rule web@1]\ncomm = nginx*\nexe = /usr/*\ncommand = *worker*\nuser = www-data\n"
		"cgroup = /system.slice/*\nunit = nginx.service\n"
		"user-unit = app.slice\nscheduler = other batch\n"
		"nice = -5..5\nkernel-thread = no\ndomain = policy4\ncap = 40%\nfloor = 100/1024\n"
		"io-boost = 1.2GHz\n");
	const struct policy_match *match = &rule->match;

	assert_string_equal(rule->name, "web@1");
	assert_string_equal(rule->file, "wakegov.conf");
	assert_int_equal(rule->line, 1);
	assert_int_equal(match->given, 0x3ff);
	assert_string_equal(match->user_unit, "app.slice");
	assert_string_equal(match->comm, "nginx*");
	assert_string_equal(match->exe, "/usr/*");
	assert_string_equal(match->command, "*worker*");
	assert_string_equal(match->user, "www-data");
	assert_string_equal(match->cgroup, "/system.slice/*");
	assert_string_equal(match->unit, "nginx.service");
	assert_string_equal(match->scheduler, "other batch");
	assert_int_equal(match->nice.least, -5);
	assert_int_equal(match->nice.most, 5);
	assert_false(match->kernel_thread);
	assert_int_equal(rule->domain_cpu, 4);
	assert_int_equal(rule->properties.cap.kind, POLICY_LEVEL_PERCENT);
	assert_int_equal(rule->properties.cap.value, 40);
	assert_int_equal(rule->properties.floor.kind, POLICY_LEVEL_CAPACITY);
	assert_int_equal(rule->properties.floor.value, 100);
	assert_int_equal(rule->properties.io_boost.kind, POLICY_LEVEL_KHZ);
	assert_int_equal(rule->properties.io_boost.value, 1200000);
}

/* Of a level: what it is written as, and what that means. */
TEST(test_levels)
{
#define AT(key) offsetof(struct policy_properties, key)
	static const struct {
		const char *text;
		size_t at;
		int kind;
		uint32_t value;
	} rows[] = {
		{ "[rule r]\ncap = none\n", AT(cap), POLICY_LEVEL_CAPACITY, 1024 },
		{ "[rule r]\ncap = 0/1024\n", AT(cap), POLICY_LEVEL_CAPACITY, 0 },
		{ "[rule r]\nfloor = none\n", AT(floor), POLICY_LEVEL_CAPACITY, 0 },
		{ "[rule r]\nfloor = 1024/1024\n", AT(floor), POLICY_LEVEL_CAPACITY, 1024 },
		{ "[rule r]\nio-boost = on\n", AT(io_boost), POLICY_LEVEL_CAPACITY, 1024 },
		{ "[rule r]\nio-boost = off\n", AT(io_boost), POLICY_LEVEL_CAPACITY, 0 },
		{ "[rule r]\nidle-latency = 50us\n", AT(idle_latency), POLICY_LEVEL_IDLE_LATENCY,
		  50 },
		{ "[rule r]\nidle-latency = 0us\n", AT(idle_latency), POLICY_LEVEL_IDLE_LATENCY,
		  0 },
		{ "[rule r]\nidle-latency = 1s\n", AT(idle_latency), POLICY_LEVEL_IDLE_LATENCY,
		  1000000 },
		{ "[rule r]\nidle-latency = none\n", AT(idle_latency), POLICY_LEVEL_IDLE_LATENCY,
		  POLICY_IDLE_LATENCY_NONE },
		{ "[class c]\nidle-latency = 2ms\n[rule r]\nclass = c\n", AT(idle_latency),
		  POLICY_LEVEL_IDLE_LATENCY, 2000 },
		/* A file with a value that was removed is still good: rules_check() tells of it. */
		{ "[rule r]\nplacement = none\n", AT(placement), POLICY_LEVEL_PLACEMENT,
		  POLICY_PLACEMENT_NONE },
		{ "[rule r]\nplacement = fork-spread\n", AT(placement), POLICY_LEVEL_PLACEMENT,
		  POLICY_PLACEMENT_FORK_SPREAD },
		{ "[class c]\nplacement = fork-spread\n[rule r]\nclass = c\n", AT(placement),
		  POLICY_LEVEL_PLACEMENT, POLICY_PLACEMENT_FORK_SPREAD },
		/* A response is a floor as well: the later one of the two counts. */
		{ "[rule r]\nresponse = 0.7ms\n", AT(floor), POLICY_LEVEL_RESPONSE, 700 },
		{ "[rule r]\nresponse = 10us\n", AT(floor), POLICY_LEVEL_RESPONSE, 10 },
		{ "[rule r]\nresponse = 10s\n", AT(floor), POLICY_LEVEL_RESPONSE, 10000000 },
		{ "[rule r]\nresponse = none\n", AT(floor), POLICY_LEVEL_CAPACITY, 0 },
		{ "[rule r]\nfloor = 30%\nresponse = 2ms\n", AT(floor), POLICY_LEVEL_RESPONSE,
		  2000 },
		{ "[rule r]\nresponse = 2ms\nfloor = 30%\n", AT(floor), POLICY_LEVEL_PERCENT, 30 },
		{ "[class c]\nresponse = 2ms\n[rule r]\nclass = c\n", AT(floor),
		  POLICY_LEVEL_RESPONSE, 2000 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *properties = (const char *)&read_one(rows[i].text)->properties;
		const struct policy_level *level = (const void *)(properties + rows[i].at);

		assert_int_equal(level->kind, rows[i].kind);
		assert_int_equal(level->value, rows[i].value);
	}
}

TEST(test_nothing_is_given)
{
	const struct policy_rule *rule = read_one("[rule r]\n");

	assert_int_equal(rule->match.given, 0);
	assert_int_equal(rule->domain_cpu, POLICY_ANY_DOMAIN);
	assert_int_equal(rule->properties.cap.kind, POLICY_LEVEL_NONE);
	assert_int_equal(rule->properties.floor.kind, POLICY_LEVEL_NONE);
	assert_int_equal(rule->properties.io_boost.kind, POLICY_LEVEL_NONE);
}

/* The rule's own word comes before its class's, wherever the class stands. */
TEST(test_classes)
{
	const struct policy_rule *rule;

	rule = read_one("[rule r]\nclass = quiet\nfloor = 5%\n"
			"[class quiet]\ncap = 25%\nfloor = 1%\nio-boost = off\n");
	assert_int_equal(rule->properties.cap.value, 25);
	assert_int_equal(rule->properties.floor.value, 5);
	assert_int_equal(rule->properties.io_boost.kind, POLICY_LEVEL_CAPACITY);
	rule = read_one("[rule r]\nclass = background\n");
	assert_int_equal(rule->properties.cap.kind, POLICY_LEVEL_PERCENT);
	assert_int_equal(rule->properties.floor.kind, POLICY_LEVEL_NONE);
	rule = read_one("[class background]\ncap = 7%\n[rule r]\nclass = background\n");
	assert_int_equal(rule->properties.cap.value, 7);
}

/* Key by key, in the place that the first file gave it. */
TEST(test_dropin_overrides)
{
	const char *const texts[] = {
		"[rule a]\ncomm = a*\ncap = 10%\n[rule b]\ncomm = b*\ncap = 20%\n",
		"[domain]\n[rule b]\ncap = 30%\nuser = joe\n[rule a]\nclass = none\n[rule c]\n",
		NULL
	};
	const struct policy_rule *rules = draft.policy.rules;

	read_texts(texts);
	assert_int_equal(draft.policy.n_rules, 3);
	assert_string_equal(rules[0].name, "a");
	assert_int_equal(rules[0].properties.cap.value, 10);
	assert_string_equal(rules[1].name, "b");
	assert_string_equal(rules[1].match.comm, "b*");
	assert_string_equal(rules[1].match.user, "joe");
	assert_int_equal(rules[1].properties.cap.value, 30);
	assert_string_equal(rules[1].file, "50-x.conf");
	assert_int_equal(rules[1].line, 2);
	assert_string_equal(rules[2].name, "c");
}

TEST(test_refused)
{
	static const char *const bad[] = {
		"[rule]\n",
		"[rule ]\n",
		"[rule a b]\n",
		"[rule a/b]\n",
		"[rule aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\n",
		"[class]\n",
		"[class x]\n[class x]\n",
		"[rule r]\n[domain]\n[rule r]\n",
		"[rule r]\ncap = 101%\n",
		"[rule r]\ncap = 1025/1024\n",
		"[rule r]\ncap = 0\n",
		"[rule r]\nio-boost = 512\n",
		"[class x]\nfloor = 30\n",
		"[rule r]\ncap = -1\n",
		"[rule r]\ncap = 40 %\n",
		"[rule r]\ncap = fast\n",
		"[rule r]\ncap = 40parsec\n",
		"[rule r]\nfloor = on\n",
		"[rule r]\nfloor = 2ms\n",
		"[rule r]\nresponse = 9us\n",
		"[rule r]\nplacement = spread\n",
		"[rule r]\nidle-latency = 50\n",
		"[rule r]\nidle-latency = -1us\n",
		"[rule r]\nidle-latency = 1001ms\n",
		"[rule r]\nresponse = 10.001s\n",
		"[rule r]\nresponse = 2\n",
		"[rule r]\nresponse = 30%\n",
		"[rule r]\nio-boost = maybe\n",
		"[rule r]\nwaiting = 4W\n",
		"[rule r]\nio-boost = none\n",
		"[rule r]\ncomm =\n",
		"[rule r]\nexe = fio\n",
		"[rule r]\ncgroup = system.slice\n",
		"[rule r]\nunit = nginx\n",
		"[rule r]\nunit = a.service nginx\n",
		"[rule r]\ncomm = a,b\n",
		"[rule r]\nuser = joe ann\n",
		"[rule r]\nuser = joe,ann\n",
		"[rule r]\nunit = a/b.service\n",
		"[rule r]\nscheduler =\n",
		"[rule r]\nscheduler = other,batch\n",
		"[rule r]\nnice = 20\n",
		"[rule r]\nnice = 4294967297\n",
		"[rule r]\nnice = 1..4294967298\n",
		"[rule r]\nnice = 5..1\n",
		"[rule r]\nnice = 1..\n",
		"[rule r]\nnice = 1..2x\n",
		"[rule r]\nkernel-thread = maybe\n",
		"[rule r]\ndomain = policy1024\n",
		"[rule r]\ndomain = 4\n",
		"[rule r]\ncap = 1%\ncap = 2%\n",
		"[rule r]\nclas = batch\n",
		"[class x]\ncomm = a\n",
		"[class x]\nclass = batch\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *message = NULL;

		test_draft_init(&draft);
		if (policy_parse(&draft, TEST_FILE, bad[i], strlen(bad[i]), &message) == 0)
			fail_msg("accepted: %s", bad[i]);
		assert_true(!strncmp(message, TEST_FILE ":", strlen(TEST_FILE ":")));
		free(message);
	}
}

/* In each key a word that begins with '#' is refused, but in command. */
TEST(test_comments)
{
	static const struct {
		const char *key, *value;
	} good[] = {
		{ "comm", "game" },	  { "exe", "/usr/games/*" },  { "user", "root" },
		{ "cgroup", "/a.slice" }, { "unit", "a.service" },    { "user-unit", "a.service" },
		{ "class", "batch" },	  { "scheduler", "idle rr" }, { "cap", "30%" },
		{ "when", "rule game" },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char text[128], *message = NULL;

		assert_non_null(policy_rule_keys_find(good[i].key));
		snprintf(text, sizeof(text), "[rule r]\n%s = %s # why\n", good[i].key,
			 good[i].value);
		test_draft_init(&draft);
		if (policy_parse(&draft, TEST_FILE, text, strlen(text), &message) == 0)
			fail_msg("accepted: %s", text);
		assert_non_null(strstr(message, "; a comment behind a value begins with a ;"));
		free(message);
	}
	assert_string_equal(read_one("[rule r]\ncommand = make # all\n")->match.command,
			    "make # all");
	assert_string_equal(read_one("[rule r]\ncomm = c# a#b\n")->match.comm, "c# a#b");
}

static void expect(const char *text, const char *expected)
{
	char *message = NULL;
	int r;

	test_draft_init(&draft);
	r = policy_parse(&draft, TEST_FILE, text, strlen(text), &message);
	if (r == 0)
		r = policy_rules_finish(&draft, &message);
	assert_true(r < 0);
	assert_string_equal(message, expected);
	free(message);
}

TEST(test_messages)
{
	expect("[rule r]\nnice = 20\n",
	       TEST_FILE ":2: [rule r] nice: found '20', expected a number "
			 "from -20 to 19, or two: 5..19");
	expect("[rule r]\ncap = 30\n",
	       TEST_FILE ":2: [rule r] cap: found '30', expected none, a share from 0% to 100%, a "
			 "capacity from 0/1024 to 1024/1024, or a frequency up to 100GHz with its "
			 "unit (kHz, MHz, GHz); a level has a unit: 30% or 30/1024");
	expect("[rule r]\ncomm = steam, wine*\n",
	       TEST_FILE ":2: [rule r] comm: found 'steam, wine*', expected patterns of 1 to 159 "
			 "bytes in all, with blanks between, as in steam wine*; write it without "
			 "commas: steam wine*");
	expect("[rule r]\nscheduler = other,batch\n",
	       TEST_FILE ":2: [rule r] scheduler: found 'other,batch', expected some of other "
			 "batch idle fifo rr deadline ext, with blanks between; write it without "
			 "commas: other batch");
	expect("[rule r]\ncomm = Witcher3.exe # the game\n", TEST_FILE
	       ":2: [rule r] comm: found 'Witcher3.exe # the game', expected patterns of 1 to "
	       "159 bytes in all, with blanks between, as in steam wine*; a comment behind a "
	       "value begins with a ;");
	expect("[rule r]\nunit = #a.service\n", TEST_FILE
	       ":2: [rule r] unit: found '#a.service', expected patterns of 1 to 159 bytes in "
	       "all, with blanks between, for a unit's whole name: foo.service, not foo; a "
	       "comment behind a value begins with a ;");
	expect("[rule r]\ncap = 60 %\n", TEST_FILE
	       ":2: [rule r] cap: found '60 %', expected none, a share from 0% to 100%, a "
	       "capacity from 0/1024 to 1024/1024, or a frequency up to 100GHz with its "
	       "unit (kHz, MHz, GHz); write it without a blank: 60%");
#define CLASSES                                                                       \
	"interactive, tail-latency, background, efficient, batch, user-interactive, " \
	"user-initiated, utility"
	expect("[rule r]\nclass = fast\n[rule s]\nclass = slow\n",
	       TEST_FILE ":2: [rule r] class: found 'fast', expected one of " CLASSES
			 ", or a section [class fast]\n" TEST_FILE
			 ":4: [rule s] class: found 'slow', expected one of " CLASSES
			 ", or a section [class slow]");
	expect("[class c]\nfloor = 1%\nflor = 1%\n", TEST_FILE
	       ":3: unknown key 'flor' in [class c]; expected one of cap, floor, response, io-boost, "
	       "waiting, placement, idle-latency, inherit; "
	       "did you mean 'floor'?");
	expect("[rule r]\nwhen = game\n",
	       TEST_FILE ":2: [rule r] when: found 'game', expected rule and the name of another "
			 "rule");
	expect("[rule r]\nwhen = rule game\n",
	       TEST_FILE ":2: [rule r] when: found 'rule game', expected a rule of this policy");
	expect("[rule r]\nwhen = rule r\n",
	       TEST_FILE ":2: [rule r] when: found 'rule r', expected another rule than this one");
	expect("[rule a]\nwhen = rule b\n[rule b]\nwhen = rule c\n[rule c]\n",
	       TEST_FILE ":2: [rule a] when: found 'rule b', expected a rule without a condition "
			 "of its own");
	expect("[rule r]\nclass = fast\n",
	       TEST_FILE ":2: [rule r] class: found 'fast', expected one of " CLASSES
			 ", or a section [class fast]");
}

TEST(test_too_many)
{
	char text[POLICY_RULES_MAX * 16 + 64] = "", *message = NULL;
	size_t n = 0;

	for (int i = 0; i < POLICY_RULES_MAX; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "[rule r%d]\n", i);
	test_draft_init(&draft);
	assert_int_equal(policy_parse(&draft, TEST_FILE, text, n, &message), 0);
	assert_int_equal(draft.policy.n_rules, POLICY_RULES_MAX);
	assert_int_equal(policy_parse(&draft, "other", "[rule more]\n", 12, &message), -E2BIG);
	free(message);
}
