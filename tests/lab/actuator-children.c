// SPDX-License-Identifier: GPL-2.0-only
/* The clamps of tasks whose parents carry ours. */
#include "actuator/uclamps.h"

#include <signal.h>

#include "actuator-conformance.h"
#include "actuator-fixture.h"
#include "actuator-task.h"

/* A child does not keep what its parent was given. */
void test_clamps_of_children(void **state)
{
	struct fixture *f = *state;
	pid_t child, pid = task_start_family(&child, f, 300);

	task_expect(child, 0, 300);
	assert_int_equal(uclamps_forked(f->clamps, (uint32_t)pid, (uint32_t)child), UCLAMPS_DONE);
	task_expect(child, 0, 1024);
	task_expect(pid, 0, 300);
	/* One that the user has clamped since is the user's. */
	task_set_by_user(child, 0, 300);
	assert_int_equal(uclamps_forked(f->clamps, 1, (uint32_t)child), UCLAMPS_UNCHANGED);
	task_expect(child, 0, 300);
	kill(child, SIGKILL);
	task_end(pid);
}

/* One that was gone before it was heard of has handed down what it had inherited. */
void test_clamps_of_grandchildren(void **state)
{
	struct fixture *f = *state;
	pid_t child, pid = task_start_family(&child, f, 300), between = task_start(0);

	task_end(between);
	assert_int_equal(uclamps_forked(f->clamps, (uint32_t)pid, (uint32_t)between), UCLAMPS_GONE);
	assert_int_equal(uclamps_forked(f->clamps, (uint32_t)between, (uint32_t)child),
			 UCLAMPS_DONE);
	task_expect(child, 0, 1024);
	kill(child, SIGKILL);
	task_end(pid);
}

/* A rule capped one that ended before its child was heard of. */
void test_clamps_of_orphans(void **state)
{
	struct fixture *f = *state;
	pid_t child, pid = task_start_family(&child, f, 300);

	task_end(pid);
	assert_int_equal(task_set(f, pid, 0, 400), UCLAMPS_GONE);
	assert_int_equal(uclamps_forked(f->clamps, (uint32_t)pid, (uint32_t)child), UCLAMPS_DONE);
	task_expect(child, 0, 1024);
	kill(child, SIGKILL);
}

/* A rule gave the child its own before its parent was known: what it inherited is not saved. */
void test_clamps_of_children_with_their_own(void **state)
{
	struct fixture *f = *state;
	pid_t child, pid = task_start_family(&child, f, 300);

	task_set(f, child, 0, 500);
	task_expect(child, 0, 300);
	assert_int_equal(uclamps_forked(f->clamps, (uint32_t)pid, (uint32_t)child), UCLAMPS_DONE);
	task_expect(child, 0, 500);
	uclamps_release(f->clamps, NULL, NULL);
	task_expect(child, 0, 1024);
	task_expect(pid, 0, 1024);
	kill(child, SIGKILL);
	task_end(pid);
}
