// SPDX-License-Identifier: GPL-2.0-only
/* short-tasks N: N tasks that end at once, on all CPUs; prints how many there were a second. */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static int end(void *unused)
{
	return 0;
}

/* The next one begins when the last has ended: they share a stack. */
static void make(uint64_t n)
{
	static char stack[16384] __attribute__((aligned(16)));

	for (uint64_t i = 0; i < n; i++)
		if (clone(end, stack + sizeof(stack), THREAD | CLONE_VFORK, NULL) < 0)
			_exit(EXIT_FAILURE);
	_exit(EXIT_SUCCESS);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char *argv[])
{
	uint64_t n = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double began = now();
	int status;

	for (long i = 0; i < n_cpus; i++)
		if (fork() == 0)
			make(n / n_cpus);
	while (wait(&status) > 0)
		if (status)
			return EXIT_FAILURE;
	printf("%.0f\n", n / (now() - began));
	return n ? EXIT_SUCCESS : EXIT_FAILURE;
}
