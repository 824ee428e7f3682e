// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/modules/overrides.h"
#include "shared/cleanup.h"

struct fixture {
	char directory[64];
	char path[96];
	struct topology *topology;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->directory, "/tmp/wakegov-override-XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	snprintf(fixture->path, sizeof(fixture->path), "%s/" OVERRIDE_FILE, fixture->directory);
	fixture->topology = test_topology_usual(2, 1);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	unlink(fixture->path);
	assert_int_equal(rmdir(fixture->directory), 0);
	free(fixture->topology);
	free(fixture);
	return 0;
}

static struct override_table make(void)
{
	struct override_table table = { .n = 2 };

	table.entries[0] = (struct input_override){
		.id = 3, .domain = 1, .min_khz = 1200000, .uid = 1000, .end_ns = 5 * NS_PER_S
	};
	table.entries[1] = (struct input_override){
		.id = 9, .domain = 0, .max_khz = 1000000, .frozen_khz = 800000, .end_ns = UINT64_MAX
	};
	return table;
}

static struct task_overrides make_overrides(void)
{
	struct task_overrides overrides = { .n = 2 };

	overrides.entries[0] = (struct task_override){
		.target = { .id = 10, .pid = 812, .start_ns = 5 * NS_PER_S, .children = true },
		.properties = { .cap = { POLICY_LEVEL_PERCENT, 30 },
				.io_boost = { POLICY_LEVEL_CAPACITY, 0 },
				.idle_latency = { POLICY_LEVEL_IDLE_LATENCY, 50 } },
		.comm = "a b) 1 2",
		.end_ns = 5 * NS_PER_S,
	};
	overrides.entries[1] = (struct task_override){
		.target = { .id = 11, .rule = "backup" },
		.properties.floor = { POLICY_LEVEL_RESPONSE, 700 },
		.uid = 1000,
		.end_ns = UINT64_MAX,
	};
	return overrides;
}

static struct task_overrides loaded_overrides;

static int load(const struct fixture *fixture, uint64_t now_ns, struct override_table *ret)
{
	memset(ret, 0x55, sizeof(*ret));
	memset(&loaded_overrides, 0x55, sizeof(loaded_overrides));
	return override_file_load(fixture->directory, fixture->topology, now_ns, ret,
				  &loaded_overrides);
}

static void save(const struct fixture *fixture)
{
	struct override_table table = make();
	struct task_overrides overrides = make_overrides();

	assert_int_equal(
		override_file_save(fixture->directory, fixture->topology, &table, &overrides), 0);
}

static void test_round_trip(void **state)
{
	struct fixture *fixture = *state;
	struct override_table table = make(), again;
	struct task_overrides overrides = make_overrides(), none = { 0 };

	assert_int_equal(load(fixture, 0, &again), 0);
	assert_int_equal(again.n, 0);
	save(fixture);
	assert_int_equal(load(fixture, NS_PER_S, &again), 0);
	assert_int_equal(again.n, 2);
	assert_memory_equal(again.entries, table.entries, 2 * sizeof(table.entries[0]));
	assert_int_equal(loaded_overrides.n, 2);
	assert_memory_equal(loaded_overrides.entries, overrides.entries,
			    2 * sizeof(struct task_override));

	/* What ended meanwhile is left out, and an empty table is no file. */
	assert_int_equal(load(fixture, 5 * NS_PER_S, &again), 0);
	assert_int_equal(again.n, 1);
	assert_int_equal(again.entries[0].id, 9);
	assert_int_equal(loaded_overrides.n, 1);
	assert_int_equal(loaded_overrides.entries[0].target.id, 11);
	table.n = 0;
	assert_int_equal(override_file_save(fixture->directory, fixture->topology, &table, &none),
			 0);
	assert_int_equal(access(fixture->path, F_OK), -1);
}

/* Any user names tasks as they like. */
static void test_strange_names(void **state)
{
	static const char *const names[] = { "a\nend 1\n", "\x1b[31m\xff", "\xe2\x80\xae", "",
					     " ",	   "\\012" };
	struct fixture *fixture = *state;
	struct override_table table = make(), again;
	struct task_overrides overrides = make_overrides();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		strcpy(overrides.entries[0].comm, names[i]);
		assert_int_equal(override_file_save(fixture->directory, fixture->topology, &table,
						    &overrides),
				 0);
		assert_int_equal(load(fixture, NS_PER_S, &again), 0);
		assert_int_equal(again.n, 2);
		assert_int_equal(loaded_overrides.n, 2);
		assert_string_equal(loaded_overrides.entries[0].comm, names[i]);
	}
}

static void test_domain_that_is_gone(void **state)
{
	struct fixture *fixture = *state;
	struct override_table again;

	save(fixture);
	strcpy(fixture->topology->domains[1].name, "other");
	assert_int_equal(load(fixture, 0, &again), 0);
	assert_int_equal(again.n, 1);
	assert_int_equal(again.entries[0].id, 9);
}

#define LEVELS " 2 30 0 0 0 0 0 0 "

static const char *const bad_lines[] = {
	"domain 3 0 5000000000 policy0 0 0",
	"domain 3 0 5000000000 policy0 0 0 0 0",
	"domain 0 0 5000000000 policy0 0 0 0",
	"domain 10 0 5000000000 policy0 0 0 0 ",
	"task 0 0 5000000000" LEVELS "812 5 1 make",
	"task 1 0 5000000000" LEVELS "0 5 1 make",
	"task 1 0 5000000000 4 700 0 0 0 0 0 0 812 5 1 make", /* a response is no cap */
	"task 1 0 5000000000 0 0 5 700 0 0 0 0 812 5 1 make",
	"task 1 0 5000000000" LEVELS "812 5 1",
	"task 1 0 5000000000" LEVELS "812 5 1 sixteen-letters-",
	"task 1 0 5000000000 9 30 0 0 0 0 0 0 812 5 1 make",
	"task 1 0 5000000000 1 99999 0 0 0 0 0 0 812 5 1 make",
	"task 1 0 5000000000 0 0 0 0 0 0 1 50 812 5 1 make", /* no idle latency */
	"rule 1 0 5000000000" LEVELS,
	"rule 1 0 5000000000 2 30 0 0 0 0 0 backup",
	"rule 11 0 5000000000" LEVELS "again",
	"rule 1 0 5000000000" LEVELS "thirty-two-letters-are-one-too-many",
	"else 1 0 5000000000" LEVELS "backup",
	"",
};

/* A file with a line that is not of the form changes nothing. */
static void test_refused(void **state)
{
	struct fixture *fixture = *state;
	struct override_table again;
	char text[4096] = "";
	FILE *file;

	save(fixture);
	file = fopen(fixture->path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	*strstr(text, "end ") = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(bad_lines); i++) {
		file = fopen(fixture->path, "w");
		assert_non_null(file);
		fprintf(file, "%s%s\nend 5\n", text, bad_lines[i]);
		fclose(file);
		assert_int_equal(load(fixture, 0, &again), -EBADMSG);
		assert_int_equal(again.n + loaded_overrides.n, 0);
	}
}

/* Those of a daemon that wrote two lines for a task. */
static void test_other_version(void **state)
{
	struct fixture *fixture = *state;
	struct override_table again;
	FILE *file = fopen(fixture->path, "w");

	assert_non_null(file);
	fputs("wakegov overrides 1\n", file);
	fclose(file);
	assert_int_equal(load(fixture, 0, &again), -EPROTONOSUPPORT);
	assert_int_equal(again.n + loaded_overrides.n, 0);
}

static void test_no_room(void **state)
{
	struct fixture *fixture = *state;
	struct override_table table = make();
	struct task_overrides overrides = { 0 };

	assert_int_equal(override_file_save("/nowhere", fixture->topology, &table, &overrides),
			 -ENOENT);
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
