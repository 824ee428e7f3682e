// SPDX-License-Identifier: GPL-2.0-only
/* A shell's work: children that live for a moment, one after the other. */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chainload.h"

#define CHILD_NS 2000000

static void wait_for(pid_t pid)
{
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		exit(EXIT_FAILURE);
}

static void wait_for_child(uint32_t late_us)
{
	pid_t pid = fork();

	if (!pid) {
		if (late_us)
			usleep(late_us);
		chainload_work(CHILD_NS);
		_exit(EXIT_SUCCESS);
	}
	wait_for(pid);
}

static void by_wait(uint32_t me)
{
	(void)me;
	wait_for_child(0);
}

/* With a wait of its own a child has another on-time than its parent. */
static void by_late_child(uint32_t me)
{
	(void)me;
	wait_for_child(200);
}

/* The parent waits in the system call. */
static void by_vfork(uint32_t me)
{
	pid_t pid = vfork();

	(void)me;
	if (!pid) {
		chainload_work(CHILD_NS);
		_exit(EXIT_SUCCESS);
	}
	wait_for(pid);
}

static void by_spawn(uint32_t me)
{
	char name[] = "true", *argv[] = { name, NULL }, *environment[] = { NULL };
	pid_t pid;

	(void)me;
	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environment))
		exit(EXIT_FAILURE);
	wait_for(pid);
}

const struct chainload_mode chainload_children[] = {
	{ "wait4", by_wait, .n = 1 },
	{ "late-child", by_late_child, .n = 1 },
	{ "vfork", by_vfork, .n = 1 },
	{ "posix_spawn", by_spawn, .n = 1 },
	{ NULL },
};
