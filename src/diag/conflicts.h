/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Who else sets or limits the frequency of a domain: running programs that change the same
 * controls, and what keeps a domain from the frequency that was asked for: firmware, heat, another
 * program's limit, the driver. Looked up on request; no state is kept.
 */

#include <stdint.h>

struct conflict {
	const char *name;   /* power-profiles-daemon, … */
	const char *knobs;  /* the controls that it sets */
	const char *advice; /* the remedy, as a clause: "use backend = uclamp, or …" */
};

#define CONFLICTS_MAX 16

/*
 * Calls `found` for each running one, which shows by its process, its own name on the system bus,
 * or its files under /run. power-profiles-daemon's names have several owners: an unknown one is
 * found by them; the conflict is static. One that cannot be queried counts as absent.
 */
void conflicts_find(void (*found)(void *userdata, const struct conflict *conflict), void *userdata);

#define LIMITER_TEXT_SIZE 256

struct throttle_domain {
	uint32_t first_cpu;  /* the N of policyN */
	uint32_t lowest_khz; /* its lowest OPP */
	uint32_t highest_khz;
	uint32_t scaling_min_khz;
	uint32_t scaling_max_khz;
	uint32_t asked_min_khz; /* the request; 0: none */
	uint32_t asked_max_khz;
	uint32_t current_khz; /* 0: not known */
};

/*
 * Calls emit for each limit, with a word (scaling-min, scaling-max, firmware, thermal, boost-off,
 * driver) and a sentence; ends early with the result of emit if that is not 0. sys is /sys.
 */
int throttle_find(const char *sys, const struct throttle_domain *domain,
		  int (*emit)(void *context, const char *who, const char *text), void *context);
