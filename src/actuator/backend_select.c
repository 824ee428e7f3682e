// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/backend_select.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "shared/cleanup.h"

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

static void pass_over(const struct actuator_domain *domain, const struct backend *backend,
		      char passed_over[static BACKEND_WHY_SIZE])
{
	size_t length = strlen(passed_over);

	snprintf(passed_over + length, BACKEND_WHY_SIZE - length, "%snot %s: %s",
		 length ? "; " : "", backend->name, domain->why);
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
			pass_over(domain, automatic[i], passed_over);
	}
	return r;
}
