// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drives a domain by scaling_min_freq and scaling_max_freq, under any driver and governor: the
 * floor of the boosts is the minimum, the ceiling of the caps the maximum, and between the two the
 * domain's own governor, or the hardware, goes on as it did. Our target is not forced on it: it
 * knows the utilisation sooner than we do, and an unchanged floor and ceiling cost no write.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "actuator/backend.h"
#include "actuator/originals.h"
#include "actuator/tickless.h"
#include "core/opp.h"

static void let_go(struct actuator_domain *domain)
{
	range_let_go(&domain->range);
	actuator_domain_let_go(domain);
}

/* The limit that somebody set is theirs; what else is ours goes back to what it was. */
static int yield_domain(struct actuator_domain *domain, enum control control, uint32_t khz)
{
	uint32_t policy = domain->info->first_cpu;
	char text[CONTROL_VALUE_SIZE];
	int r;

	snprintf(text, sizeof(text), "%u", khz);
	let_go(domain);
	originals_drop(domain->originals, policy, control);
	r = restore_domain(domain->originals, policy, NULL, NULL);
	return actuator_domain_yield(domain, control_name(control), text, r);
}

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

static int check(struct actuator_domain *domain, unsigned int touched)
{
	enum control control;
	uint32_t khz;
	int r = range_check(domain, touched, &control, &khz);

	if (r == -EBUSY)
		return actuator_domain_mark_offline(domain);
	if (r == 1)
		return yield_domain(domain, control, khz);
	return r < 0 ? r : ACTUATOR_DONE;
}

/* A write of another program that does not show yet is not written over at once. */
static bool is_doubtful(struct actuator_domain *domain)
{
	domain->doubted = !domain->doubted &&
			  (domain->range.min.suspect || domain->range.max.suspect);
	return domain->doubted;
}

static int fail(struct actuator_domain *domain, int error)
{
	domain->asked_khz = 0;
	if (error == -EBUSY)
		return actuator_domain_mark_offline(domain);
	domain->write_errors++;
	return error;
}

/*
 * Between the limits the domain's governor decides. Outside of them it may be for as long as it
 * takes the kernel to apply them, so what a write brought is looked at by the next call.
 */
static int read_back(struct actuator_domain *domain, bool settled)
{
	const struct range *range = &domain->range;
	uint32_t khz;
	int r = actuator_domain_read_back(domain, &khz);

	if (r < 0)
		return r;
	domain->read_back_khz = khz;
	if (settled && opp_is_one(domain->info, khz) &&
	    (khz > range->max.put_khz || khz < range->min.put_khz))
		domain->read_back_mismatches++;
	return 0;
}

static int limits_apply(struct actuator_domain *domain, const struct actuator_request *request)
{
	bool again = !domain->asked_khz;
	int r, written;

	if (!domain->held)
		return actuator_domain_outcome_unheld(domain);
	if (is_doubtful(domain))
		return ACTUATOR_DOUBTED;
	if (domain->unchecked)
		read_back(domain, true);

	domain->unchecked = false;
	written = range_put(domain, request->floor_khz, request->ceiling_khz, again);
	if (written < 0)
		return fail(domain, written);
	domain->asked_khz = request->target_khz;
	if (!written)
		return ACTUATOR_UNCHANGED;

	domain->unchecked = true;
	actuator_domain_mark_driven(domain);
	r = read_back(domain, false);
	return r < 0 ? fail(domain, r) : ACTUATOR_DONE;
}

static int limits_verify(struct actuator_domain *domain)
{
	unsigned int touched = domain->touched;
	int r;

	if (!domain->held)
		return actuator_domain_outcome_unheld(domain);

	domain->touched = 0;
	r = check(domain, touched);
	if (r == ACTUATOR_DONE)
		actuator_domain_mark_driven(domain);
	return r;
}

static int limits_release(struct actuator_domain *domain, restore_report_t report, void *userdata)
{
	int r;

	if (domain->held)
		limits_verify(domain);
	if (!domain->held)
		return ACTUATOR_DONE;

	let_go(domain);
	domain->state = ACTUATOR_STATE_RELEASED;
	r = restore_domain(domain->originals, domain->info->first_cpu, report, userdata);
	return r > 0 ? ACTUATOR_OFFLINE : r;
}

const struct backend backend_limits = {
	.name = "limits",
	.acquire = limits_acquire,
	.apply = limits_apply,
	.verify = limits_verify,
	.release = limits_release,
};
