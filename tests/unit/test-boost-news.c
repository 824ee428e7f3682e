// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <stdio.h>

#include "daemon/api/monitor.h"

#define SIZE 3

static struct task_table *tasks;
static struct boost_news *news;
static char heard[256];

static int set_up(void **state)
{
	tasks = test_task_table(SIZE, SIZE);
	news = boost_news_new(tasks);
	return 0;
}

static int tear_down(void **state)
{
	free(tasks);
	boost_news_free(news);
	return 0;
}

static void set(uint32_t pid, enum io_boost_state state)
{
	struct io_task *task = io_task_find(tasks, pid);

	if (!task)
		task = io_task_add(tasks, pid);
	task->io_boost.state = state;
}

static void hear(void *userdata, const struct io_task *task, const enum io_boost_state *before)
{
	size_t used = strlen(heard);

	snprintf(heard + used, sizeof(heard) - used, "%u: %s -> %s; ", task->pid,
		 before ? io_boost_state_name(*before) : "new",
		 io_boost_state_name(task->io_boost.state));
}

static void look(void)
{
	heard[0] = '\0';
	for (uint32_t place = 0; place < SIZE; place++)
		boost_news_look(news, tasks, place, hear, NULL);
}

static void assert_heard(const char *expected)
{
	look();
	assert_string_equal(heard, expected);
}

static void test_changes_are_told_once(void **state)
{
	assert_heard("");
	set(7, IO_BOOST_MEASURING);
	assert_heard("7: new -> measuring; ");
	assert_heard("");
	set(7, IO_BOOST_TRYING);
	set(8, IO_BOOST_DEVICE_BUSY);
	assert_heard("7: measuring -> trying; 8: new -> device-busy; ");
	set(7, IO_BOOST_LAPSED);
	assert_heard("7: trying -> lapsed; ");
	assert_heard("");
}

static void test_what_is_known_already_is_not_told(void **state)
{
	set(7, IO_BOOST_PAYS);
	boost_news_free(news);
	news = boost_news_new(tasks);
	assert_heard("");
	set(7, IO_BOOST_LAPSED);
	assert_heard("7: pays -> lapsed; ");
}

static void test_a_number_that_comes_back_is_another_task(void **state)
{
	set(7, IO_BOOST_PAYS);
	assert_heard("7: new -> pays; ");
	io_task_remove(tasks, io_task_find(tasks, 7));
	assert_heard("");
	set(7, IO_BOOST_PAYS);
	assert_heard("7: new -> pays; ");
}

/* All tasks of a full table are exchanged between two looks. */
static void test_full_table(void **state)
{
	for (uint32_t round = 0; round < 5; round++) {
		char expected[128];

		for (uint32_t i = 0; i < SIZE; i++)
			set(10 * round + i + 1, IO_BOOST_MEASURING);
		snprintf(expected, sizeof(expected),
			 "%u: new -> measuring; %u: new -> measuring; %u: new -> measuring; ",
			 10 * round + 1, 10 * round + 2, 10 * round + 3);
		look();
		assert_int_equal(strlen(heard), strlen(expected));
		assert_heard("");
		for (uint32_t i = 0; i < SIZE; i++)
			io_task_remove(tasks, io_task_find(tasks, 10 * round + i + 1));
	}
}

#define NEWS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NEWS_TEST(test_changes_are_told_once),
		NEWS_TEST(test_what_is_known_already_is_not_told),
		NEWS_TEST(test_a_number_that_comes_back_is_another_task),
		NEWS_TEST(test_full_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
