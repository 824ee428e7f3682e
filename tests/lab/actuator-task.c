// SPDX-License-Identifier: GPL-2.0-only
#include "actuator-task.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t task_start(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = pid ? (uint64_t)(uintptr_t)&pid : 0,
		.set_tid_size = pid ? 1 : 0,
	};
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	assert_true(child >= 0);
	if (child)
		return child;
	for (;;)
		pause();
}

void task_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

struct uclamp task_clamps(pid_t pid)
{
	struct uclamp clamp;

	assert_int_equal(uclamp_read((uint32_t)pid, &clamp), 0);
	return clamp;
}

void task_expect(pid_t pid, uint16_t min_cap, uint16_t max_cap)
{
	struct uclamp clamp = task_clamps(pid);

	assert_int_equal(clamp.min_cap, min_cap);
	assert_int_equal(clamp.max_cap, max_cap);
}

void task_set_by_user(pid_t pid, uint16_t min_cap, uint16_t max_cap)
{
	const struct uclamp to = { min_cap, max_cap };

	assert_int_equal(uclamp_write((uint32_t)pid, task_clamps(pid), to), 0);
}

int task_set(struct fixture *f, pid_t pid, uint16_t min_cap, uint16_t max_cap)
{
	const struct uclamp ours = { min_cap, max_cap };

	f->now_ns += 2 * UCLAMPS_RATE_LIMIT_NS;
	return uclamps_set(f->clamps, (uint32_t)pid, ours, f->now_ns);
}

pid_t task_start_family(pid_t *ret_child, struct fixture *f, uint16_t max_cap)
{
	int to_parent[2], to_child[2];
	char go = 0;
	pid_t pid;

	assert_int_equal(pipe(to_parent) | pipe(to_child), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		pid_t child;

		assert_int_equal(read(to_child[0], &go, 1), 1);
		child = task_start(0);
		assert_int_equal(write(to_parent[1], &child, sizeof(child)), sizeof(child));
		waitpid(child, NULL, 0);
		for (;;)
			pause();
	}
	task_set(f, pid, 0, max_cap);
	assert_int_equal(write(to_child[1], &go, 1), 1);
	assert_int_equal(read(to_parent[0], ret_child, sizeof(*ret_child)), sizeof(*ret_child));
	for (int i = 0; i < 2; i++)
		close(to_parent[i]), close(to_child[i]);
	return pid;
}
