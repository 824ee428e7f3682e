// SPDX-License-Identifier: GPL-2.0-only
/*
 * chainload MODE SECONDS: tasks that work for each other in one of many ways, or beside each other.
 * Prints how often in a second the first one had its turn. Exit status 77: the kernel lacks what
 * the mode needs.
 */
#include "chainload.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define RAMP_NS 300000000

static uint64_t turns, counted;
static const struct chainload_mode *mode;

uint64_t chainload_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

void chainload_compute(uint32_t steps)
{
	for (volatile uint32_t i = 0; i < steps; i++)
		;
}

void chainload_work(uint64_t ns)
{
	uint64_t end_ns = chainload_now_ns() + ns;

	while (chainload_now_ns() < end_ns)
		;
}

void chainload_wait(uint64_t period_ns)
{
	static __thread uint64_t next_ns;
	struct timespec next;

	next_ns = (next_ns ? next_ns : chainload_now_ns()) + period_ns;
	next = (struct timespec){ .tv_sec = next_ns / 1000000000, .tv_nsec = next_ns % 1000000000 };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
}

void chainload_skip(const char *what)
{
	perror(what);
	_exit(CHAINLOAD_SKIP);
}

void chainload_shell(const char *format, ...)
{
	char command[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	if (system(command))
		chainload_skip(command);
}

static void *run(void *argument)
{
	uint32_t me = (uintptr_t)argument;

	for (;;) {
		mode->take_turn(me);
		if (!me)
			__atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void start(uint32_t n)
{
	pthread_t unused;

	for (uintptr_t me = 0; me < n; me++)
		if (pthread_create(&unused, NULL, run, (void *)me))
			exit(EXIT_FAILURE);
}

/* Processes that compute wherever there is nothing else to do. */
static void crowd(void)
{
	for (long n = sysconf(_SC_NPROCESSORS_ONLN); n > 0; n--) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 });
		for (;;)
			__asm__ volatile("");
	}
}

static void find_mode(const char *name)
{
	static const struct chainload_mode *const tables[] = { chainload_turns, chainload_children,
							       chainload_rings, chainload_files,
							       chainload_alone };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct chainload_mode *each = tables[i]; each->name; each++)
			if (!strcmp(name, each->name))
				mode = each;
}

int main(int argc, char **argv)
{
	uint64_t began_ns;

	if (argc == 3)
		find_mode(argv[1]);
	if (!mode) {
		fputs("usage: chainload MODE SECONDS\n", stderr);
		return EXIT_FAILURE;
	}
	if (mode->prepare)
		mode->prepare();
	if (mode->crowded)
		crowd();
	start(mode->n ? mode->n : 2);
	usleep(RAMP_NS / 1000);
	counted = __atomic_load_n(&turns, __ATOMIC_RELAXED);
	began_ns = chainload_now_ns();
	usleep(atof(argv[2]) * 1e6);
	printf("%.1f\n", (__atomic_load_n(&turns, __ATOMIC_RELAXED) - counted) * 1e9 /
				 (chainload_now_ns() - began_ns));
	fflush(stdout);
	_exit(EXIT_SUCCESS);
}
