// SPDX-License-Identifier: GPL-2.0-only
/* Whose wake-ups are counted, and that each of them is. */
#include "native.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/wakeups.h"
#include "work.h"

#define SLEEPS 200
/* The first run is a wake-up without a sleep, the last a sleep without one; of each of three. */
#define ENDS 6

static struct wakeups *follow(const struct wakeups_of *of, uint32_t expected)
{
	struct wakeups *wakeups;
	const char *why = "";
	uint32_t n_tasks;
	int r = wakeups_follow(of, &wakeups, &n_tasks, &why);

	if (r < 0)
		print_message("%s: %s\n", strerror(-r), why);
	assert_int_equal(r, 0);
	assert_int_equal(n_tasks, expected);
	return wakeups;
}

static uint64_t counted(const struct wakeups *wakeups)
{
	uint64_t counts[WAKEGOV_WAKEUP_BUCKETS], sum = 0;

	wakeups_read(wakeups, counts);
	for (uint32_t i = 0; i < WAKEGOV_WAKEUP_BUCKETS; i++)
		sum += counts[i];
	return sum;
}

static void sleep_often(void)
{
	for (int i = 0; i < SLEEPS; i++)
		usleep(500);
}

/* A child that sleeps often, from a byte on. */
static pid_t start_sleeper(int *ret_start)
{
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = work_start();
	if (pid) {
		close(fds[0]);
		*ret_start = fds[1];
		return pid;
	}
	close(fds[1]);
	if (read(fds[0], &byte, 1) != 1)
		_exit(EXIT_FAILURE);
	sleep_often();
	_exit(EXIT_SUCCESS);
}

/* Returns the voluntary switches of the child, and of those that it waited for. */
static uint64_t end_of(pid_t pid)
{
	struct rusage usage;
	int status;

	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_int_equal(status, 0);
	return (uint64_t)usage.ru_nvcsw;
}

/*
 * As often as the child slept, until its end. On this kind of machine perf too misses some
 * milliseconds of events at times, in which as many are lost as it sleeps.
 */
static void assert_counted(const struct wakeups *wakeups, pid_t pid)
{
	uint64_t sleeps = end_of(pid), count = counted(wakeups);

	assert_in_range(count, sleeps - sleeps / 4, sleeps + ENDS);
}

static void test_process(void **state)
{
	int start, other;
	pid_t pid = start_sleeper(&start), unasked = start_sleeper(&other);
	struct wakeups *wakeups = follow(&(struct wakeups_of){ .pid = (uint32_t)pid }, 1);

	close(write(other, "x", 1) == 1 ? other : -1);
	close(write(start, "x", 1) == 1 ? start : -1);
	end_of(unasked);
	assert_counted(wakeups, pid);
	wakeups_free(wakeups);
}

/* What a chosen task starts is counted, and what it starts in turn. */
static void test_children(void **state)
{
	struct wakeups *wakeups = follow(&(struct wakeups_of){ .parent = (uint32_t)getpid() }, 0);
	pid_t pid = work_start();

	if (!pid) {
		pid_t child = fork();

		sleep_often();
		if (child)
			_exit(waitpid(child, NULL, 0) == child ? 0 : 1);
		_exit(0);
	}
	assert_counted(wakeups, pid);
	wakeups_free(wakeups);
}

#define NAME "native-wakeups-of-a-name" /* of which the kernel keeps 15 bytes */

static void test_name(void **state)
{
	struct wakeups *wakeups;
	int start;
	pid_t pid;

	/* A child has its parent's name. */
	prctl(PR_SET_NAME, NAME);
	pid = start_sleeper(&start);
	prctl(PR_SET_NAME, "test-wakeups");
	wakeups = follow(&(struct wakeups_of){ .program = NAME }, 1);
	close(write(start, "x", 1) == 1 ? start : -1);
	assert_counted(wakeups, pid);
	wakeups_free(wakeups);
}

/* It gets its name after the others were looked for. */
static void test_exec(void **state)
{
	struct wakeups *wakeups = follow(&(struct wakeups_of){ .program = NAME }, 0);
	int to[2], from[2];
	char byte = 'x';
	pid_t pid;

	unlink(NAME);
	assert_int_equal(symlink("/bin/cat", NAME), 0);
	assert_int_equal(pipe(to) | pipe(from), 0);
	pid = work_start();
	if (!pid) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		close(to[1]);
		execl("./" NAME, NAME, NULL);
		_exit(EXIT_FAILURE);
	}
	for (int i = 0; i < SLEEPS; i++) {
		usleep(500);
		assert_int_equal(write(to[1], &byte, 1), 1);
		assert_int_equal(read(from[0], &byte, 1), 1);
	}
	close(to[1]);
	unlink(NAME);
	assert_counted(wakeups, pid);
	wakeups_free(wakeups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_exec),
	};

	return native_run(tests);
}
