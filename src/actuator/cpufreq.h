/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Discovery of the cpufreq domains, through libcpupower. */

struct topology;

/*
 * Fills a topology that the caller frees with free(). Domains are in ascending order of policyN. A
 * domain that is wholly offline, or whose driver names neither a table nor limits, is left out. A
 * driver without a table gets OPPs in steps of 100 MHz, larger if they would not fit, between its
 * limits. Of a table with more than DOMAIN_OPPS_MAX frequencies, that many are taken evenly, both
 * ends included. Without cpufreq n_domains is 0, which is no error. Returns 0 or a negative errno:
 * -E2BIG when the machine exceeds a bound of core/topology.h, -ENOMEM.
 */
int cpufreq_discover(struct topology **ret);
