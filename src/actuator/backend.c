// SPDX-License-Identifier: GPL-2.0-only
/* Chooses the backend of a domain; and the one that writes nothing. */
#include "actuator/backend.h"

#include <errno.h>

#include "shared/cleanup.h"
#include "shared/text.h"

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

const struct backend backend_observe = {
	.name = "observe",
	.acquire = observe_acquire,
	.apply = observe_apply,
	.verify = observe_verify,
};

static const struct backend *const automatic[] = {
	&backend_uclamp,
	&backend_setspeed,
	&backend_limits,
	&backend_observe,
};

const struct backend *backend_find(enum policy_backend backend)
{
	static const struct backend *const backends[] = {
		[POLICY_BACKEND_AUTO] = NULL,
		[POLICY_BACKEND_UCLAMP] = &backend_uclamp,
		[POLICY_BACKEND_SETSPEED] = &backend_setspeed,
		[POLICY_BACKEND_LIMITS] = &backend_limits,
		[POLICY_BACKEND_OBSERVE] = &backend_observe,
	};

	return backends[backend];
}

int backend_acquire(struct actuator_domain *domain, enum policy_backend wanted,
		    const struct backend **ret, char passed_over[static BACKEND_WHY_SIZE])
{
	const struct backend *named = backend_find(wanted);
	int r = -EOPNOTSUPP;

	passed_over[0] = '\0';
	if (named) {
		*ret = named;
		return named->acquire(domain);
	}
	for (size_t i = 0; i < ARRAY_SIZE(automatic) && r == -EOPNOTSUPP; i++) {
		*ret = automatic[i];
		r = automatic[i]->acquire(domain);
		if (r == -EOPNOTSUPP)
			text_append(passed_over, BACKEND_WHY_SIZE, "%snot %s: %s",
				    passed_over[0] ? "; " : "", automatic[i]->name, domain->why);
	}
	return r;
}
