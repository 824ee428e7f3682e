// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes schedutil apply a limit at once: a real-time thread runs on the domain's CPU for a moment,
 * which makes schedutil check its limits again.
 */
#include "actuator/limits.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "actuator/control.h"
#include "actuator/task.h"
#include "shared/cpu_mask.h"
#include "shared/sysfs.h"
#include "shared/time.h"

/*
 * Longer than the 1024 us periods of the scheduler's averages, so that they change at the end of
 * the sleep, and schedutil is called on that CPU.
 */
#define SLEEP_NS (2 * NS_PER_MS)
/* If a CPU is too busy to run the thread in this time, the tick has called schedutil. */
#define WAIT_NS	    (10 * NS_PER_MS)
#define STACK_BYTES 65536

static void *sleep_briefly(void *unused)
{
	nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
	return unused;
}

/* The first online CPU of the domain that is not isolated, or -1. */
static int find_cpu(uint32_t policy)
{
	struct cpu_mask isolated = { 0 };
	char list[512], *at = list, *end;

	if (sysfs_read_line(list, sizeof(list), CONTROL_CPUS "/isolated"))
		cpu_mask_parse_list(list, &isolated);
	if (control_read_file(policy, "affected_cpus", list, sizeof(list)) <= 0)
		return -1;
	for (unsigned long cpu = strtoul(at, &end, 10); end != at; cpu = strtoul(at, &end, 10)) {
		at = end;
		if (!cpu_mask_has(&isolated, (uint32_t)cpu))
			return (int)cpu;
	}
	return -1;
}

/* A thread of the lowest real-time priority calls schedutil whatever scheduler other tasks have. */
static void init_real_time(pthread_attr_t *attributes)
{
	static const struct sched_param lowest = { .sched_priority = 1 };

	pthread_attr_init(attributes);
	pthread_attr_setstacksize(attributes, STACK_BYTES);
	pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(attributes, SCHED_FIFO);
	pthread_attr_setschedparam(attributes, &lowest);
}

static bool is_governor_of(uint32_t policy)
{
	char governor[CONTROL_VALUE_SIZE];

	return control_load(CONTROL_GOVERNOR, policy, governor, sizeof(governor)) >= 0 &&
	       strcmp(governor, "schedutil") == 0;
}

static bool begin(struct schedutil_visit *visit, uint32_t policy)
{
	pthread_attr_t attributes;
	cpu_set_t cpus;
	int cpu = is_governor_of(policy) ? find_cpu(policy) : -1, r;

	if (cpu < 0)
		return false;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	init_real_time(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
	r = pthread_create(&visit->thread, &attributes, sleep_briefly, NULL);
	pthread_attr_destroy(&attributes);
	if (r == 0)
		visit->until_ns = time_now_ns() + WAIT_NS;
	return r == 0;
}

bool schedutil_visit(struct schedutil_visit *visit, uint32_t policy)
{
	if (!visit->until_ns)
		return !begin(visit, policy);
	if (pthread_tryjoin_np(visit->thread, NULL) == 0) {
		visit->until_ns = 0;
		return true;
	}
	if (time_now_ns() < visit->until_ns)
		return false;
	schedutil_visit_drop(visit);
	return true;
}

void schedutil_visit_wait(struct schedutil_visit *visit)
{
	struct timespec until = { .tv_sec = visit->until_ns / NS_PER_S,
				  .tv_nsec = visit->until_ns % NS_PER_S };

	if (!visit->until_ns)
		return;
	if (pthread_clockjoin_np(visit->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
		pthread_detach(visit->thread);
	visit->until_ns = 0;
}

void schedutil_visit_drop(struct schedutil_visit *visit)
{
	if (visit->until_ns && pthread_tryjoin_np(visit->thread, NULL) != 0)
		pthread_detach(visit->thread);
	visit->until_ns = 0;
}

static void *visit_when_called(void *userdata)
{
	struct schedutil_caller *caller = userdata;
	struct uclamp own;

	if (uclamp_probe() == 0 && uclamp_read(0, &own) == 0 &&
	    uclamp_write(0, own, (struct uclamp){ UCLAMP_LEAST, own.max_cap, false }) == 0)
		__atomic_store_n(&caller->lowers, true, __ATOMIC_RELAXED);
	for (;;)
		sem_wait(&caller->calls);
	return NULL;
}

static bool start(struct schedutil_caller *caller)
{
	pthread_attr_t attributes;

	if (sem_init(&caller->calls, 0, 0) < 0)
		return false;
	init_real_time(&attributes);
	caller->exists = pthread_create(&caller->thread, &attributes, visit_when_called, caller) ==
			 0;
	pthread_attr_destroy(&attributes);
	caller->cpu = -1;
	return caller->exists;
}

/* Without clamps a real-time thread itself asks for the highest frequency. */
static void set_scheduler(struct schedutil_caller *caller, int scheduler)
{
	const struct sched_param param = { .sched_priority = scheduler == SCHED_FIFO };

	if (!__atomic_load_n(&caller->lowers, __ATOMIC_RELAXED))
		pthread_setschedparam(caller->thread, scheduler, &param);
}

void schedutil_call(struct schedutil_caller *caller, int cpu)
{
	cpu_set_t cpus;

	if (!caller->exists && !start(caller))
		return;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (caller->cpu != cpu && pthread_setaffinity_np(caller->thread, sizeof(cpus), &cpus) == 0)
		caller->cpu = cpu;
	set_scheduler(caller, SCHED_FIFO);
	sem_post(&caller->calls);
}

void schedutil_call_idle(struct schedutil_caller *caller, uint32_t policy)
{
	if (!caller->exists || !is_governor_of(policy))
		return;
	set_scheduler(caller, SCHED_OTHER);
	sem_post(&caller->calls);
}

void schedutil_caller_end(struct schedutil_caller *caller)
{
	if (!caller->exists)
		return;
	pthread_cancel(caller->thread);
	pthread_join(caller->thread, NULL);
	sem_destroy(&caller->calls);
	*caller = (struct schedutil_caller){ 0 };
}
