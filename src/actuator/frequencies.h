/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The OPPs of a domain, from what libcpupower tells. */

#include "core/topology.h"

/*
 * Fills opp_khz and n_opps of the domain whose first_cpu is set: the driver's table, boost
 * frequencies included where boost is on, else steps of 100 MHz between the hardware's limits.
 * Returns 0, -ENODATA when the driver names neither, or -ENOMEM.
 */
int frequencies_discover(struct topology_domain *domain);
