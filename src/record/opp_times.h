/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Which frequency a domain was decided to have, for how long, and how often it changed. */

#include "core/topology.h"

struct opp_times {
	const struct topology_domain *info; /* borrowed */
	uint64_t at_ns[DOMAIN_OPPS_MAX];    /* of each OPP */
	uint64_t changes;
	uint32_t khz;	   /* now; 0: none, or not ours */
	uint64_t since_ns; /* accounted up to then */
};

/* The time up to now_ns was spent at the frequency of before; from then on it is khz. */
void opp_times_set(struct opp_times *times, uint32_t khz, uint64_t now_ns);

uint64_t opp_times_total_ns(const struct opp_times *times);

/* Over that time; 0 where there is none. */
uint32_t opp_times_mean_khz(const struct opp_times *times);
