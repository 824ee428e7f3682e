/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Discovery of the cpufreq domains, through libcpupower. */

struct topology;

/*
 * Fills a topology that the caller frees with free(). Domains come in ascending order of their
 * policyN; a domain that is offline as a whole cannot be read and is left out, as is one whose
 * driver names neither a table nor limits. A driver without a
 * frequency table gets OPPs in steps of 100 MHz (more if they would not fit) from its lowest to
 * its highest frequency. No cpufreq at all gives n_domains = 0, which is not an error. Returns 0
 * or a negative errno: -E2BIG when the machine exceeds a bound of core/topology.h, -ENOMEM. Of a
 * table of more than DOMAIN_OPPS_MAX frequencies, that many are taken, evenly, with both ends.
 */
int cpufreq_discover(struct topology **ret);
