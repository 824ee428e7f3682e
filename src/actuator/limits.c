// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drives a domain by scaling_min_freq and scaling_max_freq, under any driver and governor: the
 * floor of the boosts is the minimum and the effective cap the maximum. Between them the domain's
 * own governor, or the hardware, chooses. It knows the utilisation sooner than we do, so our target
 * is not forced on it, and an unchanged floor and cap cost no write.
 */
#include <errno.h>

#include "actuator/backend.h"
#include "actuator/tickless.h"

static int limits_acquire(struct actuator_domain *domain)
{
	int r;

	domain->why[0] = '\0';
	r = tickless_refuse(domain);
	if (r < 0)
		return r;
	r = range_take(domain);
	if (r == -EBUSY)
		return actuator_domain_mark_offline(domain);
	if (r < 0)
		return r;

	domain->held = true;
	domain->touched = 0;
	actuator_domain_mark_driven(domain);
	return ACTUATOR_DONE;
}

static int limits_apply(struct actuator_domain *domain, const struct actuator_request *request)
{
	if (!domain->held)
		return actuator_domain_outcome_unheld(domain);
	return range_apply(domain, request, request->floor_khz, request->effective_cap_khz);
}

static int limits_verify(struct actuator_domain *domain)
{
	unsigned int touched = domain->touched;
	int r;

	if (!domain->held)
		return actuator_domain_outcome_unheld(domain);

	domain->touched = 0;
	r = range_verify(domain, touched);
	if (r == ACTUATOR_DONE)
		actuator_domain_mark_driven(domain);
	return r;
}

static int limits_release(struct actuator_domain *domain, restore_report_t report, void *userdata)
{
	if (domain->held)
		limits_verify(domain);
	if (!domain->held)
		return ACTUATOR_DONE;

	return actuator_domain_release(domain, report, userdata);
}

const struct backend backend_limits = {
	.name = "limits",
	.writes = true,
	.leaves_governor = true,
	.acquire = limits_acquire,
	.apply = limits_apply,
	.verify = limits_verify,
	.release = limits_release,
};
