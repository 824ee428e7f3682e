/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the conformance tests stand on: the lab's domains, a run directory, the state before. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "actuator/backend.h"
#include "actuator/discovery.h"
#include "actuator/saved.h"
#include "actuator/uclamps.h"
#include "actuator/watch.h"
#include "core/topology.h"

/* A test of a backend that drives, and the suites it belongs to: see actuator-conformance.c. It
 * gets its fixture, f. */
#define TEST(suites, name) TEST_WITH(suites, name, fixture_set_up, fixture_tear_down)
#define TEST_WITH(suites, name, set_up, tear_down)                                            \
	static void name(struct fixture *f);                                                  \
	static void name##_run(void **state)                                                  \
	{                                                                                     \
		name(*state);                                                                 \
	}                                                                                     \
	__attribute__((constructor)) static void name##_listed(void)                          \
	{                                                                                     \
		conformance_add(suites,                                                       \
				(struct CMUnitTest){ #name, name##_run, set_up, tear_down }); \
	}                                                                                     \
	static void name(struct fixture *f)

void conformance_add(const char *suites, struct CMUnitTest test);

#define LAB_DOMAINS_MAX	       8
#define SNAPSHOT_FILES	       CONTROL_N
#define SNAPSHOT_FILE_SIZE     64
#define SNAPSHOT_TUNABLES_SIZE 4096

struct fixture {
	struct topology *topology;
	struct saved_values *saved;
	struct actuator_domain domains[LAB_DOMAINS_MAX];
	struct actuator_watch *watch;
	int hotplug_fd;
	char run_dir[64]; /* a tmpfs of one page or two */
	char before[LAB_DOMAINS_MAX][SNAPSHOT_FILES][SNAPSHOT_FILE_SIZE];
	char tunables_before[SNAPSHOT_TUNABLES_SIZE];
	const char *home; /* each domain's governor: schedutil, or powersave where there is none */
	uint32_t second;  /* the first CPU of domains[1] */
	char report[1024];
	struct uclamps *clamps;
	uint64_t now_ns;
};

extern const struct backend *backend;

/* All domains under the home governor, without limits; a fresh run directory; the state taken down.
 */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* governor, setspeed, min and max of every domain, and all governors' tunables, byte for byte. */
void fixture_snapshot(struct fixture *f);
void fixture_assert_as_before(struct fixture *f);

/* All domains under this governor; its tunables are the kernel's defaults if no domain had it. */
void fixture_govern_all(struct fixture *f, const char *governor);

/*
 * The kernel applies limits from a work queue, so it may take a moment. Where the CPUs count their
 * cycles, the frequency is measured, and is right within 1 %.
 */
void fixture_expect_frequency(uint32_t policy, uint32_t khz);

/* As the daemon does: until it is no more "not yet". */
int fixture_ask(struct actuator_domain *domain, const struct actuator_request *request);

/* Asks for khz in each of the ways in which a backend can be asked for it. */
int fixture_apply(struct actuator_domain *domain, uint32_t khz);

struct actuator_domain *fixture_acquire(struct fixture *f, uint32_t domain);
/* Every domain at 1400 MHz, by way of another OPP; and a child that does so and is killed. */
void fixture_drive_everything(struct fixture *f);
void fixture_crash_while_driving(struct fixture *f);

void fixture_reopen_saved(struct fixture *f);
void fixture_fill_run_dir(struct fixture *f);
void fixture_empty_run_dir(struct fixture *f);

/* The file of saved values, which the caller frees; NULL if there is none. */
char *fixture_text(struct fixture *f, const char *name);

/*
 * Collects the sentences of a restore in f->report. Those on limits are left out for setspeed,
 * which has some of its own beside intel_cpufreq only.
 */
void fixture_report(void *userdata, const struct restore_result *result);
__attribute__((format(printf, 2, 3))) void fixture_expect_report(const struct fixture *f,
								 const char *format, ...);

/* fixture_read_watch waits shortly and returns the bits 1 << control that were touched. */
void fixture_watch(struct fixture *f, struct actuator_domain *domain);
unsigned int fixture_read_watch(struct fixture *f);

void fixture_expect_hotplug(struct fixture *f, uint32_t cpu, bool online);
void set_online(uint32_t cpu, bool online);
/* All CPUs of domains[1]. */
void fixture_set_second_online(struct fixture *f, bool online);

/* As another program would: open, write, close. */
void write_control(uint32_t policy, const char *file, const char *value);
/* The same, and waits until it holds: the kernel applies limits later, from a work queue. */
void write_limit(uint32_t policy, const char *file, const char *value);
uint32_t read_control_u32(uint32_t policy, const char *file);
bool has_control(uint32_t policy, const char *file);
/* scaling_cur_freq is what the CPUs have counted, not what the driver asked for. */
bool fixture_measures_frequency(uint32_t policy);
void assert_control(uint32_t policy, const char *file, const char *expected);
void assert_control_u32(uint32_t policy, const char *file, uint32_t expected_khz);

/* A governor's tunable that all domains share: GOVERNOR/NAME. */
void write_tunable(const char *name, const char *value);
void assert_tunable(const char *name, const char *expected);
void assert_no_tunable(const char *name);
