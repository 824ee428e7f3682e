// SPDX-License-Identifier: GPL-2.0-only
/* The backend that writes nothing, for a daemon that decides, records and explains only. */
#include <errno.h>

#include "actuator/backend.h"

static int observe_acquire(struct actuator_domain *domain)
{
	domain->state = ACTUATOR_STATE_OBSERVED;
	domain->why[0] = '\0';
	return ACTUATOR_DONE;
}

/* asked_khz is what another backend would have written. */
static int observe_apply(struct actuator_domain *domain, const struct actuator_request *request)
{
	int r = actuator_domain_read_back(domain, &domain->read_back_khz);

	domain->asked_khz = request->target_khz;
	if (r == -EBUSY)
		return ACTUATOR_OFFLINE;
	return r < 0 ? r : ACTUATOR_UNCHANGED;
}

/* No control is ours, so none can be taken over. */
static int observe_verify(struct actuator_domain *domain)
{
	uint32_t khz;
	int r = actuator_domain_read_back(domain, &khz);

	domain->touched = 0;
	domain->state = r == -EBUSY ? ACTUATOR_STATE_OFFLINE : ACTUATOR_STATE_OBSERVED;
	if (r == -EBUSY)
		return ACTUATOR_OFFLINE;
	return r < 0 ? r : ACTUATOR_DONE;
}

static int observe_release(struct actuator_domain *domain, restore_report_t report, void *userdata)
{
	domain->state = ACTUATOR_STATE_RELEASED;
	return ACTUATOR_DONE;
}

const struct backend backend_observe = {
	.name = "observe",
	.acquire = observe_acquire,
	.apply = observe_apply,
	.verify = observe_verify,
	.release = observe_release,
};
