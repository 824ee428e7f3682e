// SPDX-License-Identifier: GPL-2.0-only
/* The table of tasks with clamps, and its queues. */
#include "test-core.h"

#include "core/clamped_tasks.h"

static void test_full(void **state)
{
	struct clamped_tasks *tasks = clamped_tasks_new(2);
	struct clamped_task *first;

	first = clamped_tasks_take(tasks, 7);
	assert_non_null(first);
	assert_ptr_equal(clamped_tasks_take(tasks, 7), first);
	assert_non_null(clamped_tasks_take(tasks, 8));
	assert_null(clamped_tasks_take(tasks, 9));
	assert_int_equal(clamped_tasks_refused(tasks), 1);
	/* Nothing is left about it: there is room. */
	clamped_tasks_settle(tasks, first);
	assert_null(clamped_tasks_find(tasks, 7));
	assert_non_null(clamped_tasks_take(tasks, 9));
	assert_int_equal(clamped_tasks_count(tasks), 2);
	clamped_tasks_free(tasks);
}

static void test_order(void **state)
{
	struct clamped_tasks *tasks = clamped_tasks_new(8);

	for (uint32_t pid = 1; pid <= 3; pid++) {
		clamped_tasks_queue_class(tasks, clamped_tasks_take(tasks, pid));
		clamped_tasks_queue_clamp(tasks, clamped_tasks_find(tasks, 1));
	}
	/* Once, however often it is queued. */
	clamped_tasks_queue_class(tasks, clamped_tasks_find(tasks, 1));
	for (uint32_t pid = 1; pid <= 3; pid++)
		assert_int_equal(clamped_tasks_pop_class(tasks)->pid, pid);
	assert_null(clamped_tasks_pop_class(tasks));
	assert_false(clamped_tasks_has_class(tasks));
	assert_true(clamped_tasks_has_clamp(tasks));
	/* It waits again after it was taken. */
	clamped_tasks_queue_class(tasks, clamped_tasks_find(tasks, 2));
	assert_int_equal(clamped_tasks_pop_class(tasks)->pid, 2);
	clamped_tasks_free(tasks);
}

/* One that waits, or carries something, is not forgotten. */
static void test_settle(void **state)
{
	struct clamped_tasks *tasks = clamped_tasks_new(4);
	struct clamped_task *task = clamped_tasks_take(tasks, 7);

	clamped_tasks_queue_clamp(tasks, task);
	clamped_tasks_settle(tasks, task);
	assert_ptr_equal(clamped_tasks_find(tasks, 7), task);
	assert_ptr_equal(clamped_tasks_pop_clamp(tasks), task);
	task->given_max_cap = 307;
	clamped_tasks_settle(tasks, task);
	assert_ptr_equal(clamped_tasks_find(tasks, 7), task);
	task->given_max_cap = CLAMP_MAX_NONE;
	clamped_tasks_settle(tasks, task);
	assert_null(clamped_tasks_find(tasks, 7));
	clamped_tasks_free(tasks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_settle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
