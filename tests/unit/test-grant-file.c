// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/modules/grants.h"
#include "shared/cleanup.h"

struct fixture {
	char directory[64];
	char path[96];
	struct topology *topology;
	struct overrides overrides;
	struct rules *rules;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->directory, "/tmp/wakegov-grants-XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	snprintf(fixture->path, sizeof(fixture->path), "%s/" GRANT_FILE, fixture->directory);
	fixture->topology = test_topology_usual(2, 1);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	unlink(fixture->path);
	assert_int_equal(rmdir(fixture->directory), 0);
	rules_free(fixture->rules);
	free(fixture->topology);
	free(fixture);
	return 0;
}

static struct overrides make(void)
{
	struct overrides overrides = { .n = 4 };

	overrides.entries[0] = (struct override){
		.id = 3,
		.uid = 1000,
		.end_ns = 5 * NS_PER_S,
		.of_domain = true,
		.domain = 1,
		.min_khz = 1200000,
	};
	overrides.entries[1] = (struct override){
		.id = 9,
		.end_ns = UINT64_MAX,
		.of_domain = true,
		.max_khz = 1000000,
		.frozen_khz = 800000,
	};
	overrides.entries[2] = (struct override){
		.id = 10,
		.end_ns = 5 * NS_PER_S,
		.target = { .pid = 812, .start_ns = 5 * NS_PER_S, .children = true },
		.properties = { .cap = { POLICY_LEVEL_PERCENT, 30 },
				.io_boost = { POLICY_LEVEL_CAPACITY, 0 },
				.idle_latency = { POLICY_LEVEL_IDLE_LATENCY, 50 } },
		.comm = "a b) 1 2",
	};
	overrides.entries[3] = (struct override){
		.id = 11,
		.uid = 1000,
		.end_ns = UINT64_MAX,
		.target.rule = "backup",
		.properties.floor = { POLICY_LEVEL_RESPONSE, 700 },
	};
	return overrides;
}

static const struct hint a_hint = {
	.pid = 900,
	.children = true,
	.uid = 1000,
	.by_uid = 1000,
	.start_ns = 7,
	.since_ns = 8,
	.end_ns = 5 * NS_PER_S,
	.class = "batch",
	.comm = "make all",
};

static struct hints *empty(struct fixture *fixture)
{
	fixture->overrides.n = 0;
	rules_free(fixture->rules);
	fixture->rules = rules_new(16, NULL, NULL);
	assert_non_null(fixture->rules);
	return rules_hints(fixture->rules);
}

/* Borrowed until the next call. */
static const struct grant_tables *tables_of(struct fixture *fixture)
{
	static struct grant_tables tables;

	tables = (struct grant_tables){ fixture->topology, &fixture->overrides, fixture->rules };
	return &tables;
}

/* Loads into empty tables. */
static int load(struct fixture *fixture, uint64_t now_ns)
{
	empty(fixture);
	return grant_file_load(fixture->directory, now_ns, tables_of(fixture));
}

/* Saves the overrides with a hint and its heir, without one with none. */
static int save(struct fixture *fixture, const char *directory, const struct overrides *overrides,
		bool with_hint)
{
	struct hints *hints = empty(fixture);

	fixture->overrides = *overrides;
	if (with_hint)
		rules_add_heir(fixture->rules, 901, 9, hints_add(hints, &a_hint));
	return grant_file_save(directory, tables_of(fixture));
}

static void test_round_trip(void **state)
{
	struct fixture *fixture = *state;
	struct overrides overrides = make(), none = { 0 };
	struct rules_task task;
	const struct hint *hint;
	uint32_t place = 0;

	assert_int_equal(load(fixture, 0), 0);
	assert_int_equal(fixture->overrides.n, 0);
	assert_int_equal(save(fixture, fixture->directory, &overrides, true), 0);
	assert_int_equal(load(fixture, NS_PER_S), 0);
	assert_int_equal(fixture->overrides.n, 4);
	assert_memory_equal(fixture->overrides.entries, overrides.entries,
			    4 * sizeof(overrides.entries[0]));
	assert_true(rules_next_heir(fixture->rules, &place, &task, &hint));
	assert_int_equal(task.pid, 901);
	assert_int_equal(task.start_ns, 9);
	assert_int_equal(hint->pid, 900);
	assert_true(hint->children && !hint->is_thread && !hint->any_user);
	assert_int_equal(hint->since_ns, 8);
	assert_string_equal(hint->class, "batch");
	assert_string_equal(hint->comm, "make all");

	/* What ended meanwhile is left out, and empty tables are no file. */
	assert_int_equal(load(fixture, 5 * NS_PER_S), 0);
	assert_int_equal(fixture->overrides.n, 2);
	assert_int_equal(fixture->overrides.entries[0].id, 9);
	assert_int_equal(fixture->overrides.entries[1].id, 11);
	assert_int_equal(hints_count(rules_hints(fixture->rules)), 0);
	assert_int_equal(save(fixture, fixture->directory, &none, false), 0);
	assert_int_equal(access(fixture->path, F_OK), -1);
}

/* Any user names tasks as they like. */
static void test_strange_names(void **state)
{
	static const char *const names[] = { "a\nend 1\n", "\x1b[31m\xff", "\xe2\x80\xae", "",
					     " ",	   "\\012" };
	struct fixture *fixture = *state;
	struct overrides overrides = make();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		strcpy(overrides.entries[2].comm, names[i]);
		assert_int_equal(save(fixture, fixture->directory, &overrides, true), 0);
		assert_int_equal(load(fixture, NS_PER_S), 0);
		assert_int_equal(fixture->overrides.n, 4);
		assert_string_equal(fixture->overrides.entries[2].comm, names[i]);
	}
}

static void test_domain_that_is_gone(void **state)
{
	struct fixture *fixture = *state;
	struct overrides overrides = make();

	assert_int_equal(save(fixture, fixture->directory, &overrides, true), 0);
	strcpy(fixture->topology->domains[1].name, "other");
	assert_int_equal(load(fixture, 0), 0);
	assert_int_equal(fixture->overrides.n, 3);
	assert_int_equal(fixture->overrides.entries[0].id, 9);
}

#define LEVELS " 30% - - - "

static const char *const bad_lines[] = {
	"domain 3 0 5000000000 policy0 0 0",
	"domain 3 0 5000000000 policy0 0 0 0 0",
	"domain 0 0 5000000000 policy0 0 0 0",
	"domain 10 0 5000000000 policy0 0 0 0 ",
	"domain 3 0 5000000000 policy0 0 0 0", /* there is a third already */
	"task 0 0 5000000000" LEVELS "812 5 1 make",
	"task 1 0 5000000000" LEVELS "0 5 1 make",
	"task 1 0 5000000000 700us - - - 812 5 1 make", /* a response is no cap */
	"task 1 0 5000000000 - 700 - - 812 5 1 make",
	"task 1 0 5000000000" LEVELS "812 5 1",
	"task 1 0 5000000000" LEVELS "812 5 1 sixteen-letters-",
	"task 1 0 5000000000 30q - - - 812 5 1 make",
	"task 1 0 5000000000 99999/1024 - - - 812 5 1 make",
	"task 1 0 5000000000 - - - 50% 812 5 1 make", /* no idle latency */
	"rule 1 0 5000000000" LEVELS,
	"rule 1 0 5000000000 30% - - backup",
	"rule 11 0 5000000000" LEVELS "again",
	"rule 1 0 5000000000" LEVELS "thirty-two-letters-are-one-too-many",
	"hint 0 0 1 0 1000 1000 7 8 5000000000 batch make",
	"hint 5 0 1 0 1000 1000 7 8 batch make",
	"hint 5 0 1 0 1000 1000 7 8 5000000000 batch",
	"heir 0 5 900",
	"heir 5 5 900 1",
	"else 1 0 5000000000" LEVELS "backup",
	"",
};

/* A file with a line that is not of the form changes nothing. */
static void test_refused(void **state)
{
	struct fixture *fixture = *state;
	struct overrides overrides = make();
	char text[4096] = "";
	FILE *file;

	assert_int_equal(save(fixture, fixture->directory, &overrides, true), 0);
	file = fopen(fixture->path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	*strstr(text, "end ") = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(bad_lines); i++) {
		file = fopen(fixture->path, "w");
		assert_non_null(file);
		fprintf(file, "%s%s\nend 7\n", text, bad_lines[i]);
		fclose(file);
		assert_int_equal(load(fixture, 0), -EBADMSG);
		assert_int_equal(fixture->overrides.n, 0);
		assert_int_equal(hints_count(rules_hints(fixture->rules)), 0);
	}
}

static void test_other_version(void **state)
{
	struct fixture *fixture = *state;
	FILE *file = fopen(fixture->path, "w");

	assert_non_null(file);
	fputs("wakegov grants 2\n", file);
	fclose(file);
	assert_int_equal(load(fixture, 0), -EPROTONOSUPPORT);
	assert_int_equal(fixture->overrides.n, 0);
}

static void test_no_room(void **state)
{
	struct fixture *fixture = *state;
	struct overrides overrides = make();

	assert_int_equal(save(fixture, "/nowhere", &overrides, false), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_strange_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_domain_that_is_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_version, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_room, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
