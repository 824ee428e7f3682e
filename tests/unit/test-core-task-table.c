// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "core/clamp_class.h"
#include "core/task_table.h"

#define MODEL_PIDS 300

TEST(test_reuse_is_zeroed)
{
	struct task_table *table = test_task_table(1, 1);
	struct io_task *task = io_task_add(table, 7);

	task->handle = 42;
	task->cpu = 3;
	memset(&task->io_boost, 0xff, sizeof(task->io_boost));
	memset(task->comm, 'x', sizeof(task->comm));
	io_task_remove(table, task);
	assert_int_equal(io_task_count(table), 0);
	assert_null(io_task_find(table, 7));
	assert_null(io_task_next(table, NULL));

	task = io_task_add(table, 8);
	assert_non_null(task);
	assert_memory_equal(task, (&(struct io_task){ .pid = 8 }), sizeof(*task));
	free(table);
}

TEST(test_walk_while_removing)
{
	struct task_table *table = test_task_table(64, 64);
	struct io_task *task, *next;
	uint64_t seen = 0;

	for (uint32_t pid = 1; pid <= 64; pid++)
		io_task_add(table, pid);
	for (task = io_task_next(table, NULL); task; task = next) {
		next = io_task_next(table, task);
		seen |= 1ULL << (task->pid - 1);
		if (task->pid % 3)
			io_task_remove(table, task);
	}
	assert_int_equal(seen, UINT64_MAX);
	assert_int_equal(io_task_count(table), 21);
	for (task = io_task_next(table, NULL); task; task = io_task_next(table, task))
		assert_int_equal(task->pid % 3, 0);
	free(table);
}

/* A task's rules and clamps are in one record, which goes when neither is left; its I/O stays. */
TEST(test_one_record)
{
	struct task_table *table = test_task_table(2, 2);
	struct task *task = task_rule(table, 7, 5);

	assert_ptr_equal(task_clamp(table, 7), task);
	assert_non_null(io_task_add(table, 7));
	assert_non_null(task_rule(table, 8, 1));
	assert_int_equal(task_count(table), 2);
	assert_null(task_rule(table, 9, 1));
	assert_null(task_clamp(table, 9));
	/* That there is no room for rules takes none from I/O. */
	assert_non_null(io_task_add(table, 9));

	task_rule(table, 7, 0);
	task_settle(table, task);
	assert_int_equal(task_count(table), 1);
	assert_null(task_find(table, 7));
	assert_non_null(io_task_find(table, 7));
	assert_non_null(task_rule(table, 10, 1));
	assert_ptr_equal(task_next(table, NULL), task_find(table, 10));
	free(table);
}

TEST(test_waiting)
{
	struct task_table *table = test_task_table(8, 8);

	for (uint32_t pid = 1; pid <= 3; pid++) {
		task_queue(table, task_clamp(table, pid), TASK_WAIT_CLASS);
		task_queue(table, task_find(table, 1), TASK_WAIT_CLAMP);
	}
	/* Once, however often it is queued. */
	task_queue(table, task_find(table, 1), TASK_WAIT_CLASS);
	/* A table that is loaded knows it again. */
	assert_true(task_table_recount(table, 8, 8));
	assert_true(task_table_relink(table));
	for (uint32_t pid = 1; pid <= 3; pid++)
		assert_int_equal(task_pop_waiting(table, TASK_WAIT_CLASS)->pid, pid);
	assert_null(task_pop_waiting(table, TASK_WAIT_CLASS));
	assert_false(task_any_waits(table, TASK_WAIT_CLASS));
	assert_true(task_any_waits(table, TASK_WAIT_CLAMP));
	/* It waits again after it was taken. */
	task_queue(table, task_find(table, 2), TASK_WAIT_CLASS);
	task_queue(table, task_find(table, 1), TASK_WAIT_CLASS);
	assert_int_equal(task_pop_waiting(table, TASK_WAIT_CLASS)->pid, 1);
	assert_int_equal(task_pop_waiting(table, TASK_WAIT_CLASS)->pid, 2);
	free(table);
}

/* One that waits, or was given something, is not forgotten. */
TEST(test_settle)
{
	struct task_table *table = test_task_table(4, 4);
	struct task *task = task_clamp(table, 7);

	task_queue(table, task, TASK_WAIT_CLAMP);
	task_settle(table, task);
	assert_ptr_equal(task_find(table, 7), task);
	assert_ptr_equal(task_pop_waiting(table, TASK_WAIT_CLAMP), task);
	task->given_max_cap = 307;
	task_settle(table, task);
	assert_ptr_equal(task_find(table, 7), task);
	task->given_max_cap = CLAMP_MAX_NONE;
	task_settle(table, task);
	assert_null(task_find(table, 7));
	assert_int_equal(task_count(table), 0);
	free(table);
}

/* What the table should do, in the plainest way. */
struct model {
	bool there[MODEL_PIDS + 1];
	uint32_t handle[MODEL_PIDS + 1];
	uint32_t count;
	uint64_t refused;
};

static void step(struct task_table *table, struct model *model, struct test_random *random)
{
	uint32_t pid = 1 + test_random_below(random, MODEL_PIDS);
	struct io_task *task = io_task_find(table, pid);

	assert_int_equal(task != NULL, model->there[pid]);
	if (task) {
		assert_int_equal(task->pid, pid);
		assert_int_equal(task->handle, model->handle[pid]);
		io_task_remove(table, task);
		model->there[pid] = false;
		model->count--;
		return;
	}
	task = io_task_add(table, pid);
	assert_int_equal(task != NULL, model->count < io_task_size(table));
	if (!task) {
		model->refused++;
		return;
	}
	task->handle = model->handle[pid] = test_random_next(random);
	model->there[pid] = true;
	model->count++;
}

static void compare(const struct task_table *table, const struct model *model)
{
	const struct io_task *task = NULL;
	bool walked[MODEL_PIDS + 1] = { false };
	uint32_t count = 0;

	assert_int_equal(io_task_count(table), model->count);
	assert_true(model->count <= io_task_size(table));
	assert_int_equal(io_task_refused(table), model->refused);
	while ((task = io_task_next(table, task))) {
		assert_true(model->there[task->pid]);
		assert_false(walked[task->pid]);
		walked[task->pid] = true;
		count++;
	}
	assert_int_equal(count, model->count);
}

TEST(test_against_model)
{
	static const uint32_t sizes[] = { 1, 2, 7, 64, 150, 1024 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct task_table *table = test_task_table(sizes[i], sizes[i]);
		struct test_random random = { 6 + i };
		struct model model = { .count = 0 };

		for (int n = 0; n < 50000; n++) {
			step(table, &model, &random);
			if (n % 100 == 0)
				compare(table, &model);
		}
		compare(table, &model);
		if (sizes[i] < MODEL_PIDS / 2)
			assert_true(model.refused > 0);
		free(table);
	}
}
