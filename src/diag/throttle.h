/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Finds other limits on the frequency of a domain: firmware, heat, another program, the driver.
 * Read on request; no state is kept.
 */

#include <stdint.h>

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
