// SPDX-License-Identifier: GPL-2.0-only
/* The clamps of tasks whose parents carry ours. */
#include "actuator/uclamps.h"

#include <signal.h>

#include "actuator-fixture.h"
#include "actuator-task.h"

/* The daemon hears of the child, which no rule caps. */
static void take_child(struct fixture *f, pid_t parent, pid_t child)
{
	assert_int_equal(uclamps_forked(f->clamps, (uint32_t)parent, (uint32_t)child),
			 UCLAMPS_LATER);
	uclamps_flush(f->clamps, f->now_ns);
}

/* A child does not keep what its parent was given. */
TEST("uclamp", test_clamps_of_children)
{
	pid_t child, pid = task_start_family(&child, f, 300);

	task_expect(child, 0, 300);
	take_child(f, pid, child);
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
TEST("uclamp", test_clamps_of_grandchildren)
{
	pid_t child, pid = task_start_family(&child, f, 300), between = task_start(0);

	task_end(between);
	assert_int_equal(uclamps_forked(f->clamps, (uint32_t)pid, (uint32_t)between), UCLAMPS_GONE);
	take_child(f, between, child);
	task_expect(child, 0, 1024);
	kill(child, SIGKILL);
	task_end(pid);
}

/* A rule capped one that ended before its child was heard of. */
TEST("uclamp", test_clamps_of_orphans)
{
	pid_t child, pid = task_start_family(&child, f, 300);

	task_end(pid);
	assert_int_equal(task_set(f, pid, 0, 400), UCLAMPS_GONE);
	take_child(f, pid, child);
	task_expect(child, 0, 1024);
	kill(child, SIGKILL);
}

/* One under its parent's rule is never without the cap, and is restored when its parent has ended.
 */
TEST("uclamp", test_clamps_kept_by_children)
{
	pid_t child, pid = task_start_family(&child, f, 300);
	uint64_t writes = f->clamps->writes;

	assert_int_equal(uclamps_forked(f->clamps, (uint32_t)pid, (uint32_t)child), UCLAMPS_LATER);
	assert_int_equal(task_set(f, child, 0, 300), UCLAMPS_UNCHANGED);
	uclamps_flush(f->clamps, f->now_ns);
	task_expect(child, 0, 300);
	assert_int_equal(f->clamps->writes, writes);
	task_end(pid);
	assert_int_equal(task_log_restore(&uclamps_log, f->run_dir, NULL, NULL), 0);
	task_expect(child, 0, 1024);
	kill(child, SIGKILL);
}

/* More children at once than wait for the end of a round. */
TEST("uclamp", test_clamps_of_many_children)
{
	enum { CHILDREN = 300 };
	pid_t child, parent = task_start_family(&child, f, 300), children[CHILDREN];

	for (int i = 0; i < CHILDREN; i++) {
		children[i] = task_start(0);
		task_set_by_user(children[i], 0, 300); /* as if inherited */
		assert_int_equal(uclamps_forked(f->clamps, (uint32_t)parent, (uint32_t)children[i]),
				 UCLAMPS_LATER);
	}
	uclamps_flush(f->clamps, f->now_ns);
	for (int i = 0; i < CHILDREN; i++) {
		task_expect(children[i], 0, 1024);
		task_end(children[i]);
	}
	kill(child, SIGKILL);
	task_end(parent);
}

/* A rule gave the child its own before its parent was known: what it inherited is not saved. */
TEST("uclamp", test_clamps_of_children_with_their_own)
{
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
