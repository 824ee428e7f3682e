// SPDX-License-Identifier: GPL-2.0-only
/* Drives a domain through the kernel's userspace governor; governor.c switches to it. */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "actuator/backend.h"
#include "actuator/governor.h"
#include "actuator/saved.h"
#include "core/opp.h"

/*
 * The request that the kernel holds; 0: unknown. scaling_setspeed reads as the request on newer
 * kernels and as the current frequency on older ones. Strictly between the limits, where nothing is
 * clamped, both are equal.
 */
static uint32_t known_request(struct actuator_domain *domain)
{
	uint32_t khz, min_khz, max_khz;

	if (control_read_u32(domain->setspeed_fd, &khz) < 0 ||
	    actuator_domain_read_limits(domain, &min_khz, &max_khz) < 0)
		return 0;
	return khz > min_khz && khz < max_khz ? khz : 0;
}

/*
 * intel_pstate in passive mode with HWP, which alone has a preference, passes a request to the
 * hardware as the minimum, so scaling_max_freq must state the maximum.
 */
static int pin_limits(struct actuator_domain *domain)
{
	uint32_t policy = domain->info->first_cpu;
	char driver[CONTROL_VALUE_SIZE] = "", preference[CONTROL_VALUE_SIZE];
	int r;

	control_read_file(policy, "scaling_driver", driver, sizeof(driver));
	if (strcmp(driver, "intel_cpufreq") != 0 ||
	    control_read_file(policy, "energy_performance_preference", preference,
			      sizeof(preference)) < 0)
		return 0;
	r = range_acquire(domain);
	if (r < 0) {
		actuator_domain_drop(domain);
		restore_domain(domain->saved, policy, NULL, NULL);
	}
	return r;
}

/*
 * A governor that has just started shows the last frequency known to cpufreq, and the kernel
 * ignores a request for that one. With HWP it need not be real: schedutil bypasses cpufreq
 * (adjust_perf), and a CPU at 400 MHz stayed there when its maximum was requested. The first apply
 * finds a failure here.
 */
static void leave_unreal_frequency(struct actuator_domain *domain)
{
	const struct topology_domain *info = domain->info;
	uint32_t khz, other_khz;

	if (control_read_u32(domain->setspeed_fd, &khz) < 0)
		return;
	other_khz = opp_lowest_at_or_above(info, khz + 1, 0, UINT32_MAX);
	if (other_khz <= khz)
		other_khz = opp_below(info, khz, UINT32_MAX);
	control_write_u32(domain->setspeed_fd, other_khz);
}

static int setspeed_acquire(struct actuator_domain *domain)
{
	int r = actuator_domain_refuse_tickless(domain), pinned;

	if (r < 0)
		return r;
	r = governor_switch(domain);
	pinned = r < 0 ? r : pin_limits(domain);
	if (pinned == -EBUSY)
		return actuator_domain_mark_offline(domain);
	if (pinned < 0)
		return pinned;

	leave_unreal_frequency(domain);
	domain->asked_khz = known_request(domain);
	return actuator_domain_hold(domain);
}

/* The store to scaling_setspeed discards the driver's error; only reading back shows it. */
static int check_read_back(struct actuator_domain *domain, uint32_t khz)
{
	uint32_t read_khz, min_khz, max_khz;
	int r;

	domain->read_back_khz = 0;
	if (domain->measures) /* what was measured before the store */
		return 0;
	r = actuator_domain_read_back(domain, &read_khz);
	if (r < 0)
		return r;
	domain->read_back_khz = read_khz;
	if (read_khz == khz || !actuator_domain_is_request(domain, read_khz))
		return 0;

	r = actuator_domain_read_limits(domain, &min_khz, &max_khz);
	if (r < 0)
		return r;
	if (read_khz != opp_lowest_at_or_above(domain->info, khz, min_khz, max_khz))
		domain->read_back_mismatches++;
	return 0;
}

static int verify_governor(struct actuator_domain *domain)
{
	char governor[CONTROL_VALUE_SIZE];
	int r = control_read(domain->governor_fd, governor, sizeof(governor));

	if (r == -EBUSY)
		return actuator_domain_mark_offline(domain);
	if (r < 0)
		return r;
	if (strcmp(governor, GOVERNOR_USERSPACE) != 0)
		return actuator_domain_yield(domain, CONTROL_GOVERNOR, governor,
					     GOVERNOR_USERSPACE);
	return ACTUATOR_DONE;
}

/* The store fails with EINVAL under another governor, with EBUSY when the domain is offline. */
static int explain_failure(struct actuator_domain *domain, int error)
{
	int r;

	domain->asked_khz = 0;
	if (error == -EBUSY)
		return actuator_domain_mark_offline(domain);

	r = verify_governor(domain);
	if (r > 0)
		return r;
	domain->write_errors++;
	return error;
}

/*
 * Reads the kernel's request into *ret_khz. Returns whether it is ours, perhaps clamped to the
 * limits. Without a request on record it is, as the next apply writes anyway.
 */
static int check_speed(struct actuator_domain *domain, uint32_t *ret_khz)
{
	uint32_t asked_khz = domain->asked_khz, min_khz, max_khz;
	int r = control_read_u32(domain->setspeed_fd, ret_khz);

	if (r < 0)
		return r;
	if (!asked_khz || *ret_khz == asked_khz ||
	    actuator_domain_read_limits(domain, &min_khz, &max_khz) < 0)
		return 1;
	return *ret_khz == opp_lowest_at_or_above(domain->info, asked_khz, min_khz, max_khz);
}

/* The pinned maximum would cut a request above it: the limit that makes room is written first. */
static int write_speed(struct actuator_domain *domain, const struct actuator_request *request)
{
	uint32_t khz = request->target_khz;
	struct range *range = &domain->range;
	bool pinned = range->is_acquired;
	int r = 0;

	if (pinned && khz > range->max.put_khz)
		r = range_write(domain, range->min.saved_khz, khz, false);
	if (r >= 0)
		r = control_write_u32(domain->setspeed_fd, khz);
	if (r >= 0 && pinned)
		r = range_write(domain, range->min.saved_khz, khz, !domain->asked_khz);
	if (r > 0 && request->at_once)
		sched_yield(); /* lets the kernel's work item on this CPU apply the limits */
	return r < 0 ? r : 0;
}

static int setspeed_apply(struct actuator_domain *domain, const struct actuator_request *request)
{
	uint32_t khz = request->target_khz, read_khz;
	int r;

	if (!domain->held)
		return actuator_domain_outcome_unheld(domain);
	if (domain->asked_khz == khz)
		return ACTUATOR_UNCHANGED;
	/*
	 * The watch reports another program when it closes the file, a moment after its write. A
	 * value without a writer comes from a governor that the kernel has restarted. So only the
	 * next call overwrites a foreign value, when the watch would have reported a writer.
	 */
	domain->unverified = !domain->unverified && check_speed(domain, &read_khz) == 0;
	if (domain->unverified)
		return ACTUATOR_NOT_YET;

	r = write_speed(domain, request);
	if (r < 0)
		return explain_failure(domain, r);

	domain->writes++;
	domain->asked_khz = khz;
	actuator_domain_mark_driven(domain);
	r = check_read_back(domain, khz);
	if (r < 0)
		return explain_failure(domain, r);
	return ACTUATOR_DONE;
}

static int setspeed_verify(struct actuator_domain *domain)
{
	unsigned int touched = domain->touched;
	char text[CONTROL_VALUE_SIZE], ours[CONTROL_VALUE_SIZE];
	uint32_t khz;
	int r;

	if (!domain->held)
		return actuator_domain_outcome_unheld(domain);

	domain->touched = 0;
	r = verify_governor(domain);
	if (r == ACTUATOR_DONE)
		r = domain->range.is_acquired ? range_verify(domain) : r;
	if (r != ACTUATOR_DONE)
		return r;
	actuator_domain_mark_driven(domain);
	if (!(touched & (1u << CONTROL_SETSPEED))) {
		if (!domain->asked_khz)
			domain->asked_khz = known_request(domain);
		return ACTUATOR_DONE;
	}
	r = check_speed(domain, &khz);
	if (r == -EBUSY)
		return actuator_domain_mark_offline(domain);
	if (r)
		return r < 0 ? r : ACTUATOR_DONE;
	snprintf(text, sizeof(text), "%u", khz);
	snprintf(ours, sizeof(ours), "%u", domain->asked_khz);
	return actuator_domain_yield(domain, CONTROL_SETSPEED, text, ours);
}

const struct backend backend_setspeed = {
	.name = "setspeed",
	.writes = true,
	.acquire = setspeed_acquire,
	.apply = setspeed_apply,
	.verify = setspeed_verify,
};
