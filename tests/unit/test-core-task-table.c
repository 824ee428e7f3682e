// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "core/task_table.h"

#define MODEL_PIDS 300

static void test_fill(void **state)
{
	struct task_table *table = task_table_new(8);

	assert_int_equal(task_table_size(table), 8);
	assert_int_equal(task_table_count(table), 0);
	assert_null(task_table_next(table, NULL));
	for (uint32_t pid = 1; pid <= 8; pid++)
		assert_non_null(task_table_add(table, pid * 1000));
	assert_int_equal(task_table_count(table), 8);
	assert_int_equal(task_table_refused(table), 0);

	assert_null(task_table_add(table, 9000));
	assert_null(task_table_add(table, 9001));
	assert_int_equal(task_table_refused(table), 2);
	assert_int_equal(task_table_count(table), 8);
	assert_null(task_table_find(table, 9000));
	/* Nobody was thrown out. */
	for (uint32_t pid = 1; pid <= 8; pid++)
		assert_int_equal(task_table_find(table, pid * 1000)->pid, pid * 1000);
	assert_null(task_table_free(table));
}

static void test_reuse_is_zeroed(void **state)
{
	struct task_table *table = task_table_new(1);
	struct task *task = task_table_add(table, 7);

	task->handle = 42;
	task->cpu = 3;
	memset(&task->io_boost, 0xff, sizeof(task->io_boost));
	memset(task->comm, 'x', sizeof(task->comm));
	task_table_remove(table, task);
	assert_int_equal(task_table_count(table), 0);
	assert_null(task_table_find(table, 7));
	assert_null(task_table_next(table, NULL));

	task = task_table_add(table, 8);
	assert_non_null(task);
	assert_memory_equal(task, (&(struct task){ .pid = 8 }), sizeof(*task));
	task_table_free(table);
}

/* Thread ids that are a table's size apart share a bucket. */
static void test_chain(void **state)
{
	static const uint32_t order[] = { 2, 0, 4, 1, 3 };
	struct task_table *table = task_table_new(5);

	for (uint32_t i = 0; i < 5; i++)
		assert_non_null(task_table_add(table, 3 + i * 5));
	for (uint32_t removed = 0; removed < 5; removed++) {
		task_table_remove(table, task_table_find(table, 3 + order[removed] * 5));
		for (uint32_t i = 0; i < 5; i++) {
			const struct task *task = task_table_find(table, 3 + order[i] * 5);

			assert_int_equal(task != NULL, i > removed);
		}
	}
	task_table_free(table);
}

static void test_walk_while_removing(void **state)
{
	struct task_table *table = task_table_new(64);
	struct task *task, *next;
	uint64_t seen = 0;

	for (uint32_t pid = 1; pid <= 64; pid++)
		task_table_add(table, pid);
	for (task = task_table_next(table, NULL); task; task = next) {
		next = task_table_next(table, task);
		seen |= 1ULL << (task->pid - 1);
		if (task->pid % 3)
			task_table_remove(table, task);
	}
	assert_int_equal(seen, UINT64_MAX);
	assert_int_equal(task_table_count(table), 21);
	for (task = task_table_next(table, NULL); task; task = task_table_next(table, task))
		assert_int_equal(task->pid % 3, 0);
	task_table_free(table);
}

static void test_free_nothing(void **state)
{
	assert_null(task_table_free(NULL));
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
	struct task *task = task_table_find(table, pid);

	assert_int_equal(task != NULL, model->there[pid]);
	if (task) {
		assert_int_equal(task->pid, pid);
		assert_int_equal(task->handle, model->handle[pid]);
		task_table_remove(table, task);
		model->there[pid] = false;
		model->count--;
		return;
	}
	task = task_table_add(table, pid);
	assert_int_equal(task != NULL, model->count < task_table_size(table));
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
	const struct task *task = NULL;
	bool walked[MODEL_PIDS + 1] = { false };
	uint32_t count = 0;

	assert_int_equal(task_table_count(table), model->count);
	assert_int_equal(task_table_refused(table), model->refused);
	while ((task = task_table_next(table, task))) {
		assert_true(model->there[task->pid]);
		assert_false(walked[task->pid]);
		walked[task->pid] = true;
		count++;
	}
	assert_int_equal(count, model->count);
}

static void test_against_model(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 7, 64, 150, 1024 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct task_table *table = task_table_new(sizes[i]);
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
		task_table_free(table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill),	     cmocka_unit_test(test_reuse_is_zeroed),
		cmocka_unit_test(test_chain),	     cmocka_unit_test(test_walk_while_removing),
		cmocka_unit_test(test_free_nothing), cmocka_unit_test(test_against_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
