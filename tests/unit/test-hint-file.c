// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "daemon/modules/hinting.h"
#include "fake-files.h"
#include "shared/cleanup.h"

struct fixture {
	char path[96];
	struct rules *rules;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (fake_files_set_up(NULL) < 0)
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/" HINT_FILE, fake_root);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	rules_free(fixture->rules);
	free(fixture);
	return fake_files_tear_down(NULL);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static struct hints *empty(struct fixture *fixture)
{
	rules_free(fixture->rules);
	fixture->rules = rules_new(16, NULL, NULL);
	assert_non_null(fixture->rules);
	return fixture->rules->hints;
}

/* Loads into empty tables. */
static int load(struct fixture *fixture, uint64_t now_ns)
{
	empty(fixture);
	return hint_file_load(fake_root, now_ns, fixture->rules);
}

/* Saves a hint and its heir. */
static int save(struct fixture *fixture, const char *directory)
{
	struct hint hint = {
		.pid = (uint32_t)getpid(),
		.children = true,
		.uid = 1000,
		.by_uid = 1000,
		.start_ns = 7,
		.since_ns = 8,
		.end_ns = 5 * NS_PER_S,
		.class = "batch",
	};

	rules_add_heir(fixture->rules, 901, 9, hints_add(empty(fixture), &hint));
	return hint_file_save(directory, fixture->rules);
}

FIXTURE_TEST(test_round_trip)
{
	struct fixture *fixture = *state;
	struct rules_task task;
	const struct hint *hint;
	uint32_t place = 0;

	assert_int_equal(load(fixture, 0), 0);
	assert_int_equal(save(fixture, fake_root), 0);
	assert_int_equal(load(fixture, NS_PER_S), 0);
	assert_true(rules_next_heir(fixture->rules, &place, &task, &hint));
	assert_int_equal(task.pid, 901);
	assert_int_equal(task.start_ns, 9);
	assert_int_equal(hint->pid, getpid());
	assert_true(hint->children && !hint->is_thread && !hint->any_user);
	assert_int_equal(hint->since_ns, 8);
	assert_string_equal(hint->class, "batch");

	/* What ended meanwhile is left out, and an empty table is no file. */
	assert_int_equal(load(fixture, 5 * NS_PER_S), 0);
	assert_int_equal(pid_index_count(fixture->rules->hints->index), 0);
	assert_int_equal(hint_file_save(fake_root, fixture->rules), 0);
	assert_int_equal(access(fixture->path, F_OK), -1);
}

/* The name is the task's own. Any user names tasks as they like. */
FIXTURE_TEST(test_strange_names)
{
	static const char *const names[] = { "a\nend 1\n", "\x1b[31m\xff", "\xe2\x80\xae", "" };
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(prctl(PR_SET_NAME, names[i]), 0);
		assert_int_equal(save(fixture, fake_root), 0);
		assert_int_equal(load(fixture, NS_PER_S), 0);
		assert_string_equal(hints_next(fixture->rules->hints, NULL)->comm, names[i]);
	}
}

static const char *const bad_lines[] = {
	"hint 0 0 1 0 1000 1000 7 8 5000000000 batch",
	"hint 5 0 1 0 1000 1000 7 8 batch",
	"hint 5 0 1 0 1000 1000 7 8 5000000000 batch make",
	"heir 0 5 900",
	"heir 5 5 900 1",
	"else 1",
	"",
};

/* A file with a line that is not of the form changes nothing. */
FIXTURE_TEST(test_refused)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *text = NULL;
	char bad[4096];

	assert_int_equal(save(fixture, fake_root), 0);
	text = test_read(fixture->path);
	*strstr(text, "end ") = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(bad_lines); i++) {
		snprintf(bad, sizeof(bad), "%s%s\nend 3\n", text, bad_lines[i]);
		test_write(fixture->path, bad);
		assert_int_equal(load(fixture, 0), -EBADMSG);
		assert_int_equal(pid_index_count(fixture->rules->hints->index), 0);
	}
}

FIXTURE_TEST(test_no_room)
{
	assert_int_equal(save(*state, "/nowhere"), -ENOENT);
}
