// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two limits of a domain, and the backend that drives a domain by them alone. The requests tell
 * what other programs asked for; the files show only what is in force. The limit that makes room is
 * written first, and a limit is widened only after schedutil has seen its end.
 */
#include "actuator/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/backend.h"
#include "actuator/saved.h"
#include "shared/cleanup.h"
#include "wakegov/abi.h"

static void forget_past(struct range_limit *limit)
{
	for (size_t i = 0; i < RANGE_WAS; i++)
		limit->was_khz[i] = limit->put_khz;
}

static void init_limit(struct actuator_domain *domain, struct range_limit *limit,
		       enum control control, uint32_t now_khz)
{
	const struct saved_value *entry = saved_find(domain->saved, domain->info->first_cpu,
						     control);

	*limit = (struct range_limit){ .fd = limit->fd, .put_khz = now_khz };
	/* The first saved value can be older than the file's present one: saved_add(). */
	if (entry)
		limit->saved_khz = strtoul(entry->value, NULL, 10);
	forget_past(limit);
}

int range_open(struct actuator_domain *domain)
{
	struct range *range = &domain->range;
	_cleanup_close_ int min_fd = -1, max_fd = -1;

	if (range->max.fd >= 0)
		return 0;
	min_fd = actuator_domain_open(domain, CONTROL_MIN_FREQ);
	if (min_fd < 0)
		return min_fd;
	max_fd = actuator_domain_open(domain, CONTROL_MAX_FREQ);
	if (max_fd < 0)
		return max_fd;
	range->min.fd = take_fd(&min_fd);
	range->max.fd = take_fd(&max_fd);
	return 0;
}

int range_acquire(struct actuator_domain *domain)
{
	uint32_t policy = domain->info->first_cpu, in_force_khz, khz;
	_cleanup_close_ int nonlinear_fd = -1;
	struct saved_value entries[2];
	struct wakegov_limits now;
	int r = range_open(domain);

	if (r < 0)
		return r;
	r = control_read_u32(domain->range.min.fd, &in_force_khz);
	if (r == 0)
		r = actuator_domain_read_requests(domain, &now);
	if (r == -EBUSY)
		return r;
	if (r < 0)
		return actuator_domain_explain_file(domain, r, control_names[CONTROL_MAX_FREQ]);
	entries[0] = saved_entry_khz(policy, CONTROL_MIN_FREQ, now.min_khz);
	entries[1] = saved_entry_khz(policy, CONTROL_MAX_FREQ, now.max_khz);
	r = actuator_domain_save(domain, entries, ARRAY_SIZE(entries));
	if (r < 0)
		return r;

	init_limit(domain, &domain->range.min, CONTROL_MIN_FREQ, now.min_khz);
	init_limit(domain, &domain->range.max, CONTROL_MAX_FREQ, now.max_khz);
	/* Our limit is still or again in force: widening it needs the usual steps. */
	if (domain->range.max.put_khz != domain->range.max.saved_khz)
		domain->range.own_max_khz = domain->range.max.put_khz;
	domain->range.is_acquired = true;
	/*
	 * amd-pstate's minimum is the lowest non-linear frequency unless a program requests a lower
	 * one: amd_pstate_verify(). On older kernels it is the lowest frequency.
	 */
	nonlinear_fd = control_open(policy, "amd_pstate_lowest_nonlinear_freq", O_RDONLY);
	if (nonlinear_fd >= 0 && control_read_u32(nonlinear_fd, &khz) == 0 && khz <= in_force_khz)
		domain->range.default_min_khz = khz;
	return 0;
}

static int write_limit(struct actuator_domain *domain, struct range_limit *limit, uint32_t khz,
		       bool again)
{
	int r;

	if (limit->put_khz == khz && !again)
		return 0;
	r = control_write_u32(limit->fd, khz);
	if (r < 0)
		return r;
	memmove(&limit->was_khz[1], &limit->was_khz[0],
		sizeof(limit->was_khz) - sizeof(limit->was_khz[0]));
	limit->was_khz[0] = limit->put_khz;
	limit->put_khz = khz;
	domain->writes++;
	return 1;
}

static uint32_t clamp_khz(uint32_t khz, uint32_t min_khz, uint32_t max_khz)
{
	if (khz < min_khz)
		khz = min_khz;
	return khz > max_khz ? max_khz : khz;
}

int range_write(struct actuator_domain *domain, uint32_t min_khz, uint32_t max_khz, bool again)
{
	struct range *range = &domain->range;
	struct range_limit *first = &range->max, *second = &range->min;
	uint32_t first_khz, second_khz;
	int r, written;

	first_khz = clamp_khz(max_khz, range->min.saved_khz, range->max.saved_khz);
	second_khz = clamp_khz(min_khz, range->min.saved_khz, first_khz);
	if (second_khz <= range_others_min_khz(range))
		second_khz = range->min.saved_khz;
	if (domain->expect_limits)
		domain->expect_limits(domain->userdata, domain, second_khz, first_khz);
	if (first_khz < range->min.put_khz) {
		uint32_t khz = first_khz;

		first = &range->min, second = &range->max;
		first_khz = second_khz, second_khz = khz;
	}
	written = write_limit(domain, first, first_khz, again);
	if (written < 0)
		return written;
	r = write_limit(domain, second, second_khz, again);
	return r < 0 ? r : written | r;
}

/*
 * Returns 1 when another program replaced our limit. A limit that it set while we held none is
 * obeyed, and restored at the end. The same holds for the maximum that the kernel requests in the
 * user's name when turbo is switched (cpufreq_boost_set_sw()); ours is written over it again.
 */
static int check_limit(struct actuator_domain *domain, enum control control,
		       struct range_limit *limit, uint32_t khz)
{
	bool by_kernel = control == CONTROL_MAX_FREQ && domain->boost_switched &&
			 khz == domain->hardware_max_khz;
	struct saved_value *entry;

	if (khz == limit->put_khz)
		return 0;
	if (by_kernel)
		domain->asked_khz = 0;
	else if (limit->put_khz != limit->saved_khz)
		return 1;
	limit->saved_khz = limit->put_khz = khz;
	forget_past(limit);
	entry = saved_find(domain->saved, domain->info->first_cpu, control);
	if (!entry)
		return 0;
	snprintf(entry->value, sizeof(entry->value), "%u", khz);
	return saved_save(domain->saved);
}

int range_verify(struct actuator_domain *domain)
{
	struct range *range = &domain->range;
	const struct range_limit *limit = &range->max;
	enum control control = CONTROL_MAX_FREQ;
	uint32_t khz;
	char text[CONTROL_VALUE_SIZE], ours[CONTROL_VALUE_SIZE];
	struct wakegov_limits now;
	int r = actuator_domain_read_requests(domain, &now);

	if (r == -EBUSY)
		return actuator_domain_mark_offline(domain);
	if (r < 0)
		return r;

	range->governor = now.governor;
	khz = now.max_khz;
	r = check_limit(domain, control, &range->max, khz);
	if (r == 0) {
		control = CONTROL_MIN_FREQ;
		limit = &range->min;
		khz = now.min_khz;
		r = check_limit(domain, control, &range->min, khz);
	}
	domain->boost_switched = false;
	if (r <= 0)
		return r < 0 ? r : ACTUATOR_DONE;
	snprintf(text, sizeof(text), "%u", khz);
	snprintf(ours, sizeof(ours), "%u", limit->put_khz);
	return actuator_domain_yield(domain, control, text, ours);
}

static int fail(struct actuator_domain *domain, int error)
{
	domain->asked_khz = 0;
	if (error == -EBUSY)
		return actuator_domain_mark_offline(domain);
	domain->write_errors++;
	return error;
}

int range_apply(struct actuator_domain *domain, const struct actuator_request *request,
		uint32_t min_khz, uint32_t max_khz)
{
	struct range *range = &domain->range;
	struct schedutil_visit again = { 0 };
	int r, written;

	r = range->is_acquired ? 0 : range_acquire(domain);
	if (r < 0)
		return fail(domain, r);
	/*
	 * Limits for the sake of tasks need no such care: those tasks run while the limits hold,
	 * and make the kernel call schedutil unless they are sched_ext's.
	 */
	if (request->min_khz >= range->own_min_khz && request->max_khz <= range->own_max_khz &&
	    (!domain->has_sched_ext || max_khz <= range->max.put_khz))
		schedutil_visit_drop(&range->visit);
	else if (!schedutil_visit(&range->visit, domain->info->first_cpu))
		return ACTUATOR_NOT_YET;
	range->own_min_khz = request->min_khz;
	range->own_max_khz = request->max_khz;

	written = range_write(domain, min_khz, max_khz, !domain->asked_khz);
	if (written < 0)
		return fail(domain, written);
	/* With all tasks in a scheduler of sched_ext, none of them calls schedutil after this. */
	if (written && domain->has_sched_ext && !schedutil_visit(&again, domain->info->first_cpu))
		schedutil_visit_drop(&again);
	if (written && (request->at_once || request->idle))
		sched_yield(); /* lets the kernel's work item on this CPU apply the limit */
	if (written && request->at_once)
		schedutil_call(&range->caller, (int)request->cpu);
	if (written && request->idle)
		schedutil_call_idle(&range->caller, domain->info->first_cpu);
	domain->asked_khz = request->target_khz;
	if (!written)
		return ACTUATOR_UNCHANGED;

	actuator_domain_mark_driven(domain);
	return ACTUATOR_DONE;
}

static int limits_acquire(struct actuator_domain *domain)
{
	int r;

	domain->why[0] = '\0';
	r = actuator_domain_refuse_tickless(domain);
	if (r < 0)
		return r;
	r = range_acquire(domain);
	if (r < 0)
		range_close(&domain->range);
	if (r == -EBUSY)
		return actuator_domain_mark_offline(domain);
	return r < 0 ? r : actuator_domain_hold(domain);
}

static int limits_apply(struct actuator_domain *domain, const struct actuator_request *request)
{
	if (!domain->held)
		return actuator_domain_outcome_unheld(domain);
	return range_apply(domain, request, request->floor_khz, request->effective_cap_khz);
}

static int limits_verify(struct actuator_domain *domain)
{
	int r;

	if (!domain->held)
		return actuator_domain_outcome_unheld(domain);

	domain->touched = 0;
	r = range_verify(domain);
	if (r == ACTUATOR_DONE)
		actuator_domain_mark_driven(domain);
	return r;
}

const struct backend backend_limits = {
	.name = "limits",
	.writes = true,
	.leaves_governor = true,
	.acquire = limits_acquire,
	.apply = limits_apply,
	.verify = limits_verify,
};
