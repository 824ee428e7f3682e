// SPDX-License-Identifier: GPL-2.0-only
/*
 * frameload MODE SECONDS: work that is due at the end of each period and passes through several
 * tasks. browser: three processes draw a frame 60 times a second, one after the other. game: a main
 * thread and three workers do. sound: three have 5 ms for a buffer. rpc: a server has 12 ms for an
 * answer. video: two, 30 times a second. report: four, each 100 ms. key: three tasks work after a
 * key press each second, typing: each 100 ms, mouse: after each of its moves, each 8 ms, for a
 * moment. asked: a server is asked after pauses of 17 to 83 ms, as a person would, and handed:
 * three processes pass on what is. outside1, 2 and 3: the other end of the network card asks, and
 * so many tasks answer (frameload_outside.h). Each piece of work differs by up to a third. A period
 * begins when the one before is done, and no earlier than it is due to. Prints how many were done
 * of those that were due, in percent, and the median and the 99th percentile of what they took, in
 * us.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "frameload_input.h"
#include "frameload_outside.h"

#define MAX_STAGES  3
#define MAX_PERIODS 100000
#define STEP_CYCLES 24 /* six instructions of the timed machine, of four cycles each */
#define RAMP_NS	    1000000000ULL

/* One writes to all stages that are together, and the last reads from them. */
static const struct mode {
	const char *name;
	uint64_t period_ns;
	uint32_t before, after;	     /* what the first task does, in cycles */
	uint32_t stages[MAX_STAGES]; /* what the others do */
	bool together;		     /* all at once, not one after the other */
	enum input input;	     /* for which the first of them waits */
	bool asked;		     /* after a pause by chance, of about the period … */
	bool outside;		     /* … by the other end of the network card */
} modes[] = {
	{ "browser", 16666667, 5000000, 0, { 5300000, 3000000 }, false },
	{ "game", 16666667, 4000000, 2500000, { 3000000, 3000000, 3000000 }, true },
	{ "rpc", 12000000, 100000, 0, { 7200000 }, false },
	{ "sound", 5000000, 900000, 0, { 1200000, 900000 }, false },
	{ "key", 1000000000, 0, 0, { 2500000, 2500000, 2000000 }, false, INPUT_KEY },
	{ "typing", 100000000, 0, 0, { 2500000, 2500000, 2000000 }, false, INPUT_KEY },
	{ "mouse", 8000000, 0, 0, { 50000, 50000, 50000 }, false, INPUT_MOVE },
	{ "video", 33333333, 9000000, 0, { 3000000 }, false },
	{ "report", 100000000, 6000000, 0, { 8000000, 8000000, 8000000 }, false },
	{ "asked", 50000000, 100000, 0, { 5400000 }, .asked = true },
	{ "handed", 50000000, 100000, 0, { 2500000, 2000000, 2000000 }, .asked = true },
	{ "outside1", 50000000, 1800000, 0, {}, .outside = true },
	{ "outside2", 50000000, 2700000, 0, { 2700000 }, .outside = true },
	{ "outside3", 50000000, 2500000, 0, { 2000000, 2000000 }, .outside = true },
};

static const struct mode *mode;
static int input_fd;
static int out[MAX_STAGES + 1][2]; /* to each stage, and back to the first task */
static uint64_t took_ns[MAX_PERIODS];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* At least that, and up to so much more. */
static uint32_t by_chance(uint32_t least, uint32_t more)
{
	static uint32_t seed = 1;

	seed = seed * 1664525 + 1013904223;
	return least + (uint64_t)more * (seed >> 16) / 65535;
}

/* By chance two thirds of that, four thirds, or something in between. */
static void work(uint32_t cycles)
{
	cycles = by_chance(cycles / 3 * 2, cycles / 3 * 2);
	for (volatile uint32_t i = 0; i < cycles / STEP_CYCLES; i++)
		;
}

static void hand(int stage)
{
	if (write(out[stage][1], "", 1) != 1)
		exit(EXIT_FAILURE);
}

static void await(int stage)
{
	char byte;

	if (read(out[stage][0], &byte, 1) != 1)
		exit(EXIT_FAILURE);
}

static uint32_t count_stages(void)
{
	uint32_t n = 0;

	while (n < MAX_STAGES && mode->stages[n])
		n++;
	return n;
}

static void run_stage(uint32_t stage, uint32_t next)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (mode->input && !stage)
			input_await(input_fd, mode->input);
		else
			await(stage);
		work(mode->stages[stage]);
		hand(next);
	}
}

static void start_stages(uint32_t n)
{
	if (mode->input)
		input_fd = input_open(mode->input);
	for (uint32_t i = 0; i <= MAX_STAGES; i++)
		if (pipe(out[i]))
			exit(EXIT_FAILURE);
	for (uint32_t i = 0; i < n; i++) {
		bool last = mode->together || i + 1 == n;

		if (!fork())
			run_stage(i, last ? MAX_STAGES : i + 1);
	}
}

static void run_period(uint32_t n)
{
	uint32_t together = mode->together ? n : n > 0;

	work(mode->before);
	if (mode->input)
		input_send(mode->input);
	for (uint32_t i = 0; !mode->input && i < together; i++)
		hand(i);
	for (uint32_t i = 0; i < together; i++)
		await(MAX_STAGES);
	work(mode->after);
}

static void sleep_until(uint64_t at_ns)
{
	struct timespec at = { at_ns / 1000000000, at_ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int serve_outside(uint32_t n, double seconds)
{
	outside_begin(seconds * 1e9 / mode->period_ns, mode->period_ns / 1000);
	while (outside_await()) {
		run_period(n);
		outside_answer();
	}
	outside_print();
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	uint64_t due_ns, counts_ns, ends_ns;
	uint32_t n, periods = 0;

	for (size_t i = 0; argc == 3 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name))
			mode = &modes[i];
	if (!mode) {
		fputs("usage: frameload MODE SECONDS\n", stderr);
		return EXIT_FAILURE;
	}
	n = count_stages();
	start_stages(n);
	if (mode->outside)
		return serve_outside(n, atof(argv[2]));
	due_ns = now_ns();
	counts_ns = due_ns + RAMP_NS;
	ends_ns = counts_ns + (uint64_t)(atof(argv[2]) * 1e9);
	while (due_ns < ends_ns && periods < MAX_PERIODS) {
		uint64_t began_ns = due_ns, done_ns;

		sleep_until(began_ns);
		run_period(n);
		done_ns = now_ns();
		if (began_ns >= counts_ns)
			took_ns[periods++] = done_ns - began_ns;
		input_done(mode->input);
		due_ns = mode->asked
				 ? done_ns + by_chance(mode->period_ns / 3, mode->period_ns / 3 * 4)
				 : began_ns + mode->period_ns;
		if (due_ns < done_ns)
			due_ns = done_ns;
	}
	qsort(took_ns, periods, sizeof(took_ns[0]), compare);
	printf("%.1f %.0f %.0f\n", 100.0 * periods * mode->period_ns / (due_ns - counts_ns),
	       took_ns[periods / 2] / 1e3, took_ns[periods * 99 / 100] / 1e3);
	return EXIT_SUCCESS;
}
