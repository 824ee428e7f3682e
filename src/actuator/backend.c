// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the backend of a domain, releases a domain from any backend, and hands it to another
 * governor for a while. The backend that writes nothing is in this file too.
 */
#include "actuator/backend.h"

#include <errno.h>
#include <string.h>

#include "actuator/discovery.h"
#include "actuator/governor.h"
#include "shared/cleanup.h"
#include "shared/text.h"

static int observe_acquire(struct actuator_domain *domain)
{
	domain->state = ACTUATOR_STATE_OBSERVED;
	domain->why[0] = '\0';
	return ACTUATOR_DONE;
}

/* No control is ours, so none can be taken over, and nothing is read back. */
static int observe_verify(struct actuator_domain *domain)
{
	uint32_t khz;
	int r = actuator_domain_read_back(domain, &khz);

	domain->touched = 0;
	domain->state = r == -EBUSY ? ACTUATOR_STATE_OFFLINE : ACTUATOR_STATE_OBSERVED;
	if (r == -EBUSY)
		return ACTUATOR_OFFLINE;
	return r == -ENODEV ? r : ACTUATOR_DONE;
}

/* asked_khz is what another backend would have written. */
static int observe_apply(struct actuator_domain *domain, const struct actuator_request *request)
{
	int r = observe_verify(domain);

	domain->read_back_khz = 0;
	domain->asked_khz = request->target_khz;
	return r == ACTUATOR_DONE ? ACTUATOR_UNCHANGED : r;
}

const struct backend backend_observe = {
	.name = "observe",
	.acquire = observe_acquire,
	.apply = observe_apply,
	.verify = observe_verify,
};

/* In the order in which `auto` tries them. */
static const struct backend *const backends[] = {
	[POLICY_BACKEND_AUTO] = NULL,
	[POLICY_BACKEND_UCLAMP] = &backend_uclamp,
	[POLICY_BACKEND_SETSPEED] = &backend_setspeed,
	[POLICY_BACKEND_LIMITS] = &backend_limits,
	[POLICY_BACKEND_OBSERVE] = &backend_observe,
};

const struct backend *backend_find(enum policy_backend backend)
{
	return backends[backend];
}

int backend_acquire(struct actuator_domain *domain, enum policy_backend wanted,
		    const struct backend **ret, char passed_over[static BACKEND_WHY_SIZE])
{
	const struct backend *named = backend_find(wanted);
	int r = -EOPNOTSUPP;

	passed_over[0] = '\0';
	if (cpufreq_find_fault(domain->info->first_cpu, passed_over))
		named = &backend_observe;
	if (!named && amd_pstate_is_guided()) {
		text_append(passed_over, BACKEND_WHY_SIZE,
			    "not uclamp or setspeed: in amd-pstate's guided mode the CPU itself "
			    "chooses, up to scaling_max_freq");
		named = &backend_limits;
	}
	if (named) {
		*ret = named;
		return named->acquire(domain);
	}
	for (size_t i = POLICY_BACKEND_UCLAMP; i < ARRAY_SIZE(backends) && r == -EOPNOTSUPP; i++) {
		*ret = backends[i];
		r = backends[i]->acquire(domain);
		if (r == -EOPNOTSUPP)
			text_append(passed_over, BACKEND_WHY_SIZE, "%snot %s: %s",
				    passed_over[0] ? "; " : "", backends[i]->name, domain->why);
	}
	return r;
}

int actuator_domain_release(struct actuator_domain *domain, const struct backend *backend,
			    restore_report_t report, void *userdata)
{
	int r;

	if (!backend->writes)
		domain->state = ACTUATOR_STATE_RELEASED;
	/*
	 * restore_domain() leaves and reports controls that another program took over. Verify
	 * first: the program may have restored our value.
	 */
	if (domain->held && (domain->touched || backend->leaves_governor))
		backend->verify(domain);
	if (!domain->held && domain->state != ACTUATOR_STATE_YIELDED)
		return ACTUATOR_DONE;
	actuator_domain_drop(domain);
	domain->state = ACTUATOR_STATE_RELEASED;
	r = restore_domain(domain->saved, domain->info->first_cpu, report, userdata);
	return r > 0 ? ACTUATOR_OFFLINE : r;
}

int actuator_hand_back(struct actuator_domain *domain, const struct backend *backend,
		       const char *governor)
{
	int r = actuator_domain_release(domain, backend, NULL, NULL);

	if (domain->state == ACTUATOR_STATE_YIELDED)
		return ACTUATOR_TAKEN_OVER;
	if (r == ACTUATOR_OFFLINE)
		return actuator_domain_mark_offline(domain);
	if (r == ACTUATOR_DONE)
		r = control_read(domain->governor_fd, domain->lent_to, sizeof(domain->lent_to));
	if (r < 0)
		return r;
	if (governor && strcmp(governor, domain->lent_to) != 0)
		r = governor_lend(domain, governor);
	if (r < 0)
		return r;
	domain->state = ACTUATOR_STATE_HANDED_BACK;
	return actuator_domain_explain(domain, ACTUATOR_DONE, "handed back to %s for a while",
				       domain->lent_to);
}

int actuator_verify_handed_back(struct actuator_domain *domain)
{
	char governor[CONTROL_VALUE_SIZE];
	int r = control_read(domain->governor_fd, governor, sizeof(governor));

	domain->touched = 0;
	if (r == -EBUSY)
		return ACTUATOR_OFFLINE;
	if (r < 0)
		return r;
	if (!strcmp(governor, domain->lent_to))
		return ACTUATOR_DONE;
	return actuator_domain_yield(domain, CONTROL_GOVERNOR, governor, domain->lent_to);
}

int actuator_end_hand_back(struct actuator_domain *domain)
{
	int outcome = actuator_verify_handed_back(domain);
	int r;

	if (outcome == ACTUATOR_TAKEN_OVER)
		return outcome;
	domain->state = ACTUATOR_STATE_RELEASED;
	r = restore_domain(domain->saved, domain->info->first_cpu, NULL, NULL);
	return r < 0 ? r : outcome;
}
