// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaves a domain to the kernel's schedutil, which reads the clamps of the tasks that run there:
 * those are what is driven (actuator/uclamps.h). This half of the lever says whether a domain can
 * be moved by them, and whether it still can; it writes nothing itself.
 */
#include <errno.h>
#include <string.h>

#include "actuator/backend.h"
#include "actuator/uclamp_task.h"

#define GOVERNOR_SCHEDUTIL "schedutil"

static int explain_probe(struct actuator_domain *domain, int error)
{
	if (error == -EOPNOTSUPP || error == -EINVAL)
		return actuator_domain_explain(domain, -EOPNOTSUPP,
					       "this kernel has no utilisation clamps: it needs "
					       "CONFIG_UCLAMP_TASK=y");
	if (error == -EPERM)
		return actuator_domain_explain(domain, -EOPNOTSUPP,
					       "sched_setattr is not permitted: with systemd, "
					       "SystemCallFilter= must allow @resources");
	return actuator_domain_explain(domain, error,
				       "cannot find out about utilisation clamps: "
				       "%s",
				       strerror(-error));
}

static int check_governor(struct actuator_domain *domain, char ret_governor[CONTROL_VALUE_SIZE])
{
	int r = control_read(domain->governor_fd, ret_governor, CONTROL_VALUE_SIZE);

	if (r == -EBUSY)
		return actuator_domain_mark_offline(domain);
	if (r < 0)
		return actuator_domain_explain_file(domain, r, control_name(CONTROL_GOVERNOR));
	return strcmp(ret_governor, GOVERNOR_SCHEDUTIL) == 0 ? ACTUATOR_DONE : ACTUATOR_FOREIGN;
}

static int uclamp_acquire(struct actuator_domain *domain)
{
	char governor[CONTROL_VALUE_SIZE];
	int r;

	domain->why[0] = '\0';
	r = uclamp_probe();
	if (r < 0)
		return explain_probe(domain, r);
	r = check_governor(domain, governor);
	if (r == ACTUATOR_FOREIGN)
		return actuator_domain_explain(domain, -EOPNOTSUPP,
					       "clamps move a domain under schedutil only, and its "
					       "governor is %s: echo schedutil into "
					       "scaling_governor",
					       governor);
	if (r != ACTUATOR_DONE)
		return r;

	domain->held = true;
	domain->touched = 0;
	actuator_domain_mark_driven(domain);
	return ACTUATOR_DONE;
}

/* asked_khz records what the domain should come to; what schedutil makes of it is read back. */
static int uclamp_apply(struct actuator_domain *domain, const struct actuator_request *request)
{
	int r;

	if (!domain->held)
		return actuator_domain_outcome_unheld(domain);
	domain->asked_khz = request->target_khz;
	r = actuator_domain_read_back(domain, &domain->read_back_khz);
	if (r == -EBUSY)
		return actuator_domain_mark_offline(domain);
	return r < 0 ? r : ACTUATOR_UNCHANGED;
}

/* Another governor reads no clamps. They stay as they are, for the other domains. */
static int uclamp_verify(struct actuator_domain *domain)
{
	char governor[CONTROL_VALUE_SIZE];
	int r;

	if (!domain->held)
		return actuator_domain_outcome_unheld(domain);
	domain->touched = 0;
	r = check_governor(domain, governor);
	if (r == ACTUATOR_DONE)
		actuator_domain_mark_driven(domain);
	if (r != ACTUATOR_FOREIGN)
		return r;
	actuator_domain_let_go(domain);
	return actuator_domain_yield(domain, control_name(CONTROL_GOVERNOR), governor, 0);
}

static int uclamp_release(struct actuator_domain *domain, restore_report_t report, void *userdata)
{
	if (domain->held) {
		actuator_domain_let_go(domain);
		domain->state = ACTUATOR_STATE_RELEASED;
	}
	return ACTUATOR_DONE;
}

const struct backend backend_uclamp = {
	.name = "uclamp",
	.acquire = uclamp_acquire,
	.apply = uclamp_apply,
	.verify = uclamp_verify,
	.release = uclamp_release,
};
