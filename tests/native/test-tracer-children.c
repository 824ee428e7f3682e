// SPDX-License-Identifier: GPL-2.0-only
/* Children of tasks that match rules: which of them are reported, and when. */
#include "native.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "wakegov/abi.h"
#include "work.h"

#define MANY	   (WAKEGOV_CHILDREN + 40) /* more than wait at a time */
#define RECORDS	   1024
#define ANY_TIME   UINT64_MAX
#define ANY_OF_ALL 0

/* What was reported since follow(). */
static struct {
	uint32_t n_facts, n_gone, n_begun;
	struct task_facts facts[RECORDS];
	uint32_t gone[RECORDS];
} seen;

static void take(void *userdata, const struct wakegov_record *record)
{
	if (record->type == WAKEGOV_RECORD_FACTS && seen.n_facts < RECORDS)
		seen.facts[seen.n_facts++] = *wakegov_record_facts(record);
	else if (record->type == WAKEGOV_RECORD_GONE && seen.n_gone < RECORDS)
		seen.gone[seen.n_gone++] = record->pid;
	else if (record->type == WAKEGOV_RECORD_CHILDREN)
		seen.n_begun++;
}

static void consume(struct native *native)
{
	assert_true(tracer_consume(native->tracer, take, NULL) >= 0);
}

/* The test's own process matches a rule. */
static void follow(struct native *native)
{
	const struct tracer_follow what = { .tasks = true, .renames = true };

	memset(&seen, 0, sizeof(seen));
	tracer_follow_tasks(native->tracer, &what);
	tracer_mark_task(native->tracer, getpid(), true);
}

static uint64_t report(struct native *native, uint32_t pid, uint64_t before_ns)
{
	return tracer_report_children(native->tracer, pid, before_ns, take, NULL);
}

static const struct task_facts *find_facts(uint32_t pid)
{
	for (uint32_t i = 0; i < seen.n_facts; i++)
		if (seen.facts[i].pid == pid)
			return &seen.facts[i];
	return NULL;
}

static uint32_t times_gone(uint32_t pid)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < seen.n_gone; i++)
		n += seen.gone[i] == pid;
	return n;
}

static pid_t start_sleeper(void)
{
	pid_t pid = work_start();

	if (pid)
		return pid;
	sleep(1000);
	_exit(0);
}

/* Of children that end soon only the first says that there are some. */
NATIVE_TEST(test_short)
{
	struct native *native = *state;

	follow(native);
	for (int i = 0; i < MANY; i++) {
		pid_t pid = work_start();

		if (!pid)
			_exit(0);
		work_wait(pid);
		consume(native);
		assert_null(find_facts(pid));
		assert_int_equal(times_gone(pid), 0);
	}
	assert_int_equal(seen.n_begun, 1);
	assert_true(report(native, ANY_OF_ALL, ANY_TIME) == UINT64_MAX);
}

/* One that lives on is reported when it is asked for, and so is its end. */
NATIVE_TEST(test_long)
{
	struct native *native = *state;
	uint64_t before_ns = native_now_ns(), born_ns;
	const struct task_facts *facts;
	pid_t pid;

	follow(native);
	pid = start_sleeper();
	consume(native);
	assert_null(find_facts(pid));
	born_ns = report(native, ANY_OF_ALL, before_ns);
	assert_null(find_facts(pid));
	assert_in_range(born_ns, before_ns, native_now_ns());
	assert_true(report(native, ANY_OF_ALL, born_ns + 1) == UINT64_MAX);
	facts = find_facts(pid);
	assert_non_null(facts);
	assert_int_equal(facts->parent, getpid());
	assert_true(tracer_task_lives(native->tracer, pid, facts->ends));
	work_end(pid);
	assert_false(tracer_task_lives(native->tracer, pid, facts->ends));
	consume(native);
	assert_int_equal(times_gone(pid), 1);
	/* The next one begins the wait again. */
	work_end(start_sleeper());
	consume(native);
	assert_int_equal(seen.n_begun, 2);
}

/* A child that forks is reported before its own child is. */
NATIVE_TEST(test_grandchild)
{
	struct native *native = *state;
	pid_t child, grandchild;
	int pipes[2];

	follow(native);
	assert_int_equal(pipe(pipes), 0);
	child = work_start();
	if (!child) {
		grandchild = start_sleeper();
		assert_int_equal(write(pipes[1], &grandchild, sizeof(grandchild)),
				 sizeof(grandchild));
		sleep(1000);
	}
	assert_int_equal(read(pipes[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	/* The child's record is in the ring. */
	report(native, getpid(), ANY_TIME);
	assert_non_null(find_facts(child));
	assert_null(find_facts(grandchild));
	report(native, child, ANY_TIME);
	assert_non_null(find_facts(grandchild));
	assert_int_equal(find_facts(grandchild)->parent, child);
	kill(grandchild, SIGKILL);
	work_end(child);
}

/* A change is reported at once, with what it is now. */
NATIVE_TEST(test_changed)
{
	struct native *native = *state;
	pid_t pid;

	follow(native);
	pid = work_start();
	if (!pid) {
		prctl(PR_SET_NAME, "native-renamed");
		_exit(0);
	}
	work_wait(pid);
	consume(native);
	assert_non_null(find_facts(pid));
	assert_string_equal(find_facts(pid)->comm, "native-renamed");
	assert_int_equal(times_gone(pid), 1);
}

static void ignore(void *userdata, const struct task_facts *facts)
{
}

/* A child that a scan finds has its record too: who scans need not keep what it finds. */
NATIVE_TEST(test_scanned)
{
	struct native *native = *state;
	pid_t pid;

	follow(native);
	pid = start_sleeper();
	assert_int_equal(tracer_scan_tasks(native->tracer, ignore, NULL), 0);
	consume(native);
	assert_non_null(find_facts(pid));
	assert_true(report(native, ANY_OF_ALL, ANY_TIME) == UINT64_MAX);
	work_end(pid);
}

/* Those for which there is no place do not wait; each is reported once. */
NATIVE_TEST(test_many)
{
	struct native *native = *state;
	pid_t pids[MANY];
	uint32_t at_once, n[MANY] = { 0 };

	follow(native);
	for (int i = 0; i < MANY; i++) {
		pids[i] = start_sleeper();
		consume(native);
	}
	at_once = seen.n_facts;
	assert_in_range(at_once, MANY - WAKEGOV_CHILDREN, MANY - 1);
	report(native, ANY_OF_ALL, ANY_TIME);
	for (uint32_t i = 0; i < seen.n_facts; i++)
		for (int j = 0; j < MANY; j++)
			n[j] += seen.facts[i].pid == (uint32_t)pids[j];
	for (int j = 0; j < MANY; j++) {
		assert_int_equal(n[j], 1);
		work_end(pids[j]);
	}
}

NATIVE_TEST(test_cpu)
{
	struct native *native = *state;
	struct task_facts facts;
	cpu_set_t before, one;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &before))
			continue;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		assert_int_equal(tracer_find_task(native->tracer, getpid(), &facts), 0);
		assert_int_equal(facts.cpu, i);
	}
	sched_setaffinity(0, sizeof(before), &before);
}

/* Whoever ended in a pause is not said to live. */
NATIVE_TEST(test_pause)
{
	struct native *native = *state;
	struct task_facts facts;

	assert_int_equal(tracer_find_task(native->tracer, getpid(), &facts), 0);
	assert_true(tracer_task_lives(native->tracer, getpid(), facts.ends));
	tracer_pause(native->tracer);
	assert_false(tracer_task_lives(native->tracer, getpid(), facts.ends));
	tracer_resume(native->tracer);
	assert_false(tracer_task_lives(native->tracer, getpid(), facts.ends));
	assert_int_equal(tracer_find_task(native->tracer, getpid(), &facts), 0);
	assert_true(tracer_task_lives(native->tracer, getpid(), facts.ends));
}
