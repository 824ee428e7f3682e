// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/backend_select.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/state.h"
#include "shared/cleanup.h"

static const struct backend *const automatic[] = {
	&backend_uclamp,
	&backend_setspeed,
	&backend_limits,
	&backend_observe,
};

const struct backend *levers_find(enum policy_backend backend)
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

static void pass_over(struct governed *governed)
{
	size_t length = strlen(governed->passed_over);

	snprintf(governed->passed_over + length, sizeof(governed->passed_over) - length,
		 "%snot %s: %s", length ? "; " : "", governed->backend->name,
		 governed->actuator.why);
}

int levers_acquire(struct governed *governed, enum policy_backend wanted)
{
	const struct backend *named = levers_find(wanted);
	int r = -EOPNOTSUPP;

	governed->passed_over[0] = '\0';
	if (named) {
		governed->backend = named;
		return named->acquire(&governed->actuator);
	}
	for (size_t i = 0; i < ARRAY_SIZE(automatic) && r == -EOPNOTSUPP; i++) {
		governed->backend = automatic[i];
		r = automatic[i]->acquire(&governed->actuator);
		if (r == -EOPNOTSUPP)
			pass_over(governed);
	}
	return r;
}
