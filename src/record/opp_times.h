/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The frequencies decided for a domain, their times, and the number of changes. */

#include "core/topology.h"

struct opp_times {
	const struct topology_domain *info; /* borrowed */
	uint64_t at_ns[DOMAIN_OPPS_MAX];    /* time at each OPP */
	uint64_t changes;
	uint32_t khz;	   /* present frequency; 0: none, or not ours */
	uint64_t since_ns; /* time up to which it is accounted */
};

/* Accounts the time up to now_ns at the previous frequency; from then on it is khz. */
void opp_times_set(struct opp_times *times, uint32_t khz, uint64_t now_ns);

uint64_t opp_times_total_ns(const struct opp_times *times);

/* The mean over that time; 0 without any. */
uint32_t opp_times_mean_khz(const struct opp_times *times);
