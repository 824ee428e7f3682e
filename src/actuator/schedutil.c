// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/schedutil.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "actuator/control.h"
#include "shared/time.h"

/*
 * The sleep is longer than the 1024 us of which the scheduler's averages are made, so that they
 * change when it ends, and schedutil is called on the CPU where it ends.
 */
#define SLEEP_NS (2 * NS_PER_MS)
/* On a CPU too busy to run the thread in this time, the tick has called schedutil. */
#define WAIT_NS (10 * NS_PER_MS)

static void *sleep_briefly(void *unused)
{
	nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
	return unused;
}

static void run_on(uint32_t cpu)
{
	uint64_t until_ns = time_now_ns() + WAIT_NS;
	struct timespec until = { .tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S };
	pthread_attr_t attributes;
	pthread_t thread;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
	if (pthread_create(&thread, &attributes, sleep_briefly, NULL) == 0 &&
	    pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) != 0)
		pthread_detach(thread);
	pthread_attr_destroy(&attributes);
}

void schedutil_note_limits(uint32_t policy)
{
	char governor[CONTROL_VALUE_SIZE], cpus[512];

	if (control_load(CONTROL_GOVERNOR, policy, governor, sizeof(governor)) < 0 ||
	    strcmp(governor, "schedutil") != 0 ||
	    control_read_file(policy, "affected_cpus", cpus, sizeof(cpus)) <= 0)
		return;
	run_on(strtoul(cpus, NULL, 10));
}
