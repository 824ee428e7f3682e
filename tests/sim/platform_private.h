/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The values of a platform file that are no plain quantity, and what only the whole file shows.
 * Each returns 0, or a negative errno and *ret_message.
 */

#include "sim/platform.h"

int platform_store_order(struct platform_scheduler *scheduler, const char *text,
			 char **ret_message);
/* CPUs that another domain has already are refused. */
int platform_store_cpus(struct platform *platform, struct platform_domain *domain, const char *text,
			char **ret_message);
/* "408MHz 825mV", faster than the one before. */
int platform_store_opp(struct platform_domain *domain, const char *text, char **ret_message);
int platform_store_interrupt(struct platform_device *device, const char *text, char **ret_message);

/* CPUs without gaps, interrupts on CPUs that exist; computes capacities and the CPUs' domains. */
int platform_complete(struct platform *platform, const char *path, char **ret_message);
