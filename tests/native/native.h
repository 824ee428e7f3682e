/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The tracer on this machine's kernel, with a topology that the machine need not have. */

#include "test.h"

#include <stdbool.h>

#include "tracer/tracer.h"

#define NS_PER_MS 1000000ULL
#define NS_PER_S  1000000000ULL

/* Other work runs beside the tests, and on both CPUs: an event has this long to arrive. */
#define PATIENCE_MS    30000

#define NATIVE_MAX_KHZ 2000000

#define NATIVE_CPU     0 /* a domain of its own; all other CPUs are the second one */
#define NATIVE_OTHER   1

struct native {
	struct topology *topology;
	struct policy_io_boost policy;
	struct tracer *tracer;
	int file; /* see work_file_new() */

	/* what was told since native_watch() */
	uint32_t cpu_events[TOPOLOGY_CPUS_MAX];
	uint32_t device_ends[INPUT_DEVICES_MAX];
	uint32_t task_events;
	uint32_t watched_pid;	 /* 0: none */
	uint32_t watched_tgid;	 /* any thread of it but the first; 0: none */
	uint32_t watched_events; /* about the watched */
	struct input watched;	 /* as of the last of them */
};

/*
 * A test with a struct native as its state, and a tracer of its own: none lives on the slots and
 * records of another. The program's exit status is 77, "skipped", where the machine is not one for
 * them, after saying why.
 */
#define NATIVE_TEST(name) TEST_WITH(name, native_set_up, native_tear_down)
int native_set_up(void **state);
int native_tear_down(void **state);

/* A new tracer, which learns. Returns a negative errno, and prints why. */
int native_start_tracer(struct native *native);

uint64_t native_now_ns(void);

/* Takes what is there; about whom is told is read at once, as the daemon does. */
void native_consume(struct native *native);
/* As the daemon does some times a second; ends of devices are counted. */
void native_check_devices(struct native *native);
/* From here on the counts are of this task, or of none for pid 0. */
void native_watch(struct native *native, uint32_t pid);

/* Consumes until *count is at least n. False: it was not for so long. */
bool native_wait(struct native *native, const uint32_t *count, uint32_t n, uint32_t timeout_ms);

uint32_t native_pid_of(const struct input *input);
uint64_t native_program_events(const struct native *native, const char *name);
uint32_t native_util_cap(const struct native *native, uint32_t cpu);
