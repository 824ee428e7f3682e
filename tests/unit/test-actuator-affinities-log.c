// SPDX-License-Identifier: GPL-2.0-only
/* The log that says how to put affinities back: what is not as we wrote it is refused whole. */
#include "test-core.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "actuator/affinities.h"
#include "core/pid_index.h"

static char directory[] = "/tmp/wakegov-affinities-XXXXXX";
static char path[sizeof(directory) + 16];
static struct affinity saved[2];
static struct task_log loaded = { .fd = -1 };

static int set_up_all(void **state)
{
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/affinities", directory);
	saved[0] = (struct affinity){ .task = { 4711, true, 88123 }, .own = cpu_mask_all() };
	cpu_mask_add(&saved[0].put, 0);
	saved[1] = (struct affinity){ .task = { UINT32_MAX, true, UINT64_MAX } };
	/* No list is longer. */
	for (uint32_t cpu = 0; cpu < CPU_MASK_CPUS; cpu++)
		if (cpu % 3 != 2)
			cpu_mask_add(&saved[1].own, cpu);
	saved[1].put = saved[1].own;
	return 0;
}

static int tear_down_all(void **state)
{
	return rmdir(directory);
}

static int tear_down(void **state)
{
	task_log_deinit(&loaded);
	loaded = (struct task_log){ .fd = -1 };
	return statefile_remove(directory, &affinities_log.file);
}

#define FIXTURE_TEST(name) TEST_WITH(name, NULL, tear_down)

static int load(void)
{
	task_log_deinit(&loaded);
	return task_log_load(&loaded, &affinities_log, directory);
}

/* The first n, as a daemon writes them that begins its log; then text. */
static void write_log(size_t n, const char *text)
{
	struct task_log log;

	assert_true(task_log_init(&log, &affinities_log, directory));
	for (size_t i = 0; i < n; i++)
		task_log_add(&log, &saved[i]);
	assert_int_equal(task_log_begin(&log), 0);
	assert_int_equal(write(log.fd, text, strlen(text)), strlen(text));
	task_log_deinit(&log);
}

static void assert_same(const struct affinity *one, const struct affinity *other)
{
	assert_int_equal(one->task.pid, other->task.pid);
	assert_int_equal(one->task.start, other->task.start);
	assert_true(cpu_mask_equals(&one->own, &other->own));
	assert_true(cpu_mask_equals(&one->put, &other->put));
}

FIXTURE_TEST(test_round_trip)
{
	struct affinity later = saved[0];
	const struct affinity *read_back;
	struct task_log log;

	cpu_mask_add(&later.put, 1);
	assert_true(task_log_init(&log, &affinities_log, directory));
	assert_non_null(task_log_add(&log, &saved[0]));
	assert_int_equal(task_log_add_line(&log, &saved[1]), 0);
	assert_int_equal(task_log_add_line(&log, &later), 0);
	task_log_deinit(&log);
	assert_int_equal(load(), 0);
	assert_int_equal(pid_index_count(loaded.index), 2);
	assert_same(task_log_find(&loaded, 4711), &later);
	assert_same(task_log_find(&loaded, UINT32_MAX), &saved[1]);
	/* A daemon that was killed before that write left the line before. */
	read_back = task_log_find(&loaded, 4711);
	assert_true(cpu_mask_equals(&read_back->was, &saved[0].put));
}

FIXTURE_TEST(test_no_log)
{
	assert_int_equal(load(), 0);
	assert_int_equal(pid_index_count(loaded.index), 0);
	assert_int_equal(task_log_restore(&affinities_log, directory, NULL, NULL), 0);
}

FIXTURE_TEST(test_damaged)
{
	static const char *const lines[] = {
		"task 0 5 0-1023 3\n",
		"task 7 5 0-1023\n",
		"task 7 5 0-1023 03\n",
		"task 7 5 0-1023 3 \n",
		"task -7 5 0-1023 3\n",
		"task 4294967303 5 0-1023 3\n",
		"task 7 5 0-1023 g\n",
		"task 7 5 0-1023 3,1\n",
		"task 7 5 0-1024 3\n",
		"tusk 7 5 0-1023 3\n",
		"end 1\n",
		"\n",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		write_log(1, lines[i]);
		assert_int_equal(load(), -EBADMSG);
		assert_int_equal(task_log_restore(&affinities_log, directory, NULL, NULL),
				 -EBADMSG);
		assert_int_equal(access(path, F_OK), 0);
	}
}

int main(void)
{
	return tests_run(set_up_all, tear_down_all);
}
