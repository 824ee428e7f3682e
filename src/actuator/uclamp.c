// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaves a domain to schedutil, which reads the clamps of the tasks that run there
 * (actuator/uclamps.h). This file checks that a domain can be driven that way, and still can. It
 * writes to scaling_min_freq and scaling_max_freq what no task's clamp can express: the domain's
 * own limits, from the policy and overrides, and the floor for boosts and floors. A task's minimum
 * clamp ends when the task sleeps, so the interrupts and kernel threads that serve it run without
 * it. And if the kernel cannot tell how fast CPUs run, the clamp is relative to the present
 * frequency plus a quarter (get_capacity_ref_freq()). A domain without limits and floors is not
 * written to.
 */
#include <errno.h>
#include <string.h>

#include "actuator/backend.h"
#include "actuator/discovery.h"
#include "actuator/saved.h"
#include "actuator/task.h"

#define GOVERNOR_SCHEDUTIL "schedutil"

static int check_governor(struct actuator_domain *domain, char ret_governor[CONTROL_VALUE_SIZE])
{
	int r = control_read(domain->governor_fd, ret_governor, CONTROL_VALUE_SIZE);

	if (r == -EBUSY)
		return actuator_domain_mark_offline(domain);
	if (r < 0)
		return actuator_domain_explain_file(domain, r, control_names[CONTROL_GOVERNOR]);
	return strcmp(ret_governor, GOVERNOR_SCHEDUTIL) == 0 ? ACTUATOR_DONE : ACTUATOR_TAKEN_OVER;
}

static int uclamp_acquire(struct actuator_domain *domain)
{
	char governor[CONTROL_VALUE_SIZE], scheduler[SCHED_EXT_NAME_SIZE];
	uint32_t policy;
	int r;

	domain->why[0] = '\0';
	if (sched_ext_has_all("/sys", scheduler))
		return actuator_domain_explain(
			domain, -EOPNOTSUPP,
			"the sched_ext scheduler %s has all tasks, and ignores "
			"clamps",
			scheduler);
	if (amd_pstate_is_guided())
		return actuator_domain_explain(domain, -EOPNOTSUPP,
					       "amd-pstate's guided mode lets the CPU exceed what "
					       "schedutil chooses, so clamps cap nothing");
	r = uclamp_probe();
	if (r == -EOPNOTSUPP || r == -EINVAL)
		return actuator_domain_explain(domain, -EOPNOTSUPP,
					       "this kernel has no utilisation clamps: it needs "
					       "CONFIG_UCLAMP_TASK=y");
	if (r == -EPERM)
		return actuator_domain_explain(domain, -EOPNOTSUPP,
					       "sched_setattr is not permitted: with systemd, "
					       "SystemCallFilter= must allow @resources");
	if (r < 0)
		return actuator_domain_explain(domain, r, "utilisation clamps cannot be tested: %s",
					       strerror(-r));
	r = check_governor(domain, governor);
	if (r == ACTUATOR_TAKEN_OVER)
		return actuator_domain_explain(
			domain, -EOPNOTSUPP,
			"clamps only work in a domain under schedutil, and its "
			"governor is %s: echo schedutil into "
			"scaling_governor",
			governor);
	/*
	 * The limits' files are opened now, so that a read-only /sys fails before the first floor.
	 * A limit of ours that another program has restored is overwritten.
	 */
	policy = domain->info->first_cpu;
	if (r == ACTUATOR_DONE)
		r = saved_find(domain->saved, policy, CONTROL_MIN_FREQ) ||
				    saved_find(domain->saved, policy, CONTROL_MAX_FREQ)
			    ? range_acquire(domain)
			    : range_open(domain);
	if (r == -EBUSY)
		return actuator_domain_mark_offline(domain);
	return r == ACTUATOR_DONE ? actuator_domain_hold(domain) : r;
}

static int uclamp_apply(struct actuator_domain *domain, const struct actuator_request *request)
{
	bool limited = request->floor_khz || request->max_khz != UINT32_MAX;
	uint32_t khz;
	int r;

	if (!domain->held)
		return actuator_domain_outcome_unheld(domain);
	if (limited || domain->range.is_acquired)
		return range_apply(domain, request, request->floor_khz, request->max_khz);
	/* Nothing is written: the target is what schedutil is expected to set. */
	if (domain->asked_khz == request->target_khz)
		return ACTUATOR_UNCHANGED;
	domain->asked_khz = request->target_khz;
	r = actuator_domain_read_back(domain, &khz);
	if (r == -EBUSY)
		return actuator_domain_mark_offline(domain);
	return r < 0 ? r : ACTUATOR_UNCHANGED;
}

static int uclamp_verify(struct actuator_domain *domain)
{
	char governor[CONTROL_VALUE_SIZE];
	int r;

	if (!domain->held)
		return actuator_domain_outcome_unheld(domain);
	domain->touched = 0;
	r = check_governor(domain, governor);
	/* Another governor ignores clamps. Tasks keep theirs for the other domains. */
	if (r == ACTUATOR_TAKEN_OVER)
		return actuator_domain_yield(domain, CONTROL_GOVERNOR, governor,
					     GOVERNOR_SCHEDUTIL);
	if (r == ACTUATOR_DONE && domain->range.is_acquired)
		r = range_verify(domain);
	if (r == ACTUATOR_DONE)
		actuator_domain_mark_driven(domain);
	return r;
}

const struct backend backend_uclamp = {
	.name = "uclamp",
	.writes = true,
	.leaves_governor = true,
	.clamps_tasks = true,
	.acquire = uclamp_acquire,
	.apply = uclamp_apply,
	.verify = uclamp_verify,
};
