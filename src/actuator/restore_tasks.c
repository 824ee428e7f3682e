// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/restore_tasks.h"

#include <stdio.h>

#include "actuator/tunables.h"

static void tell(const struct restore_tasks *run, const struct restore_result *result)
{
	if (run->report)
		run->report(run->userdata, result);
}

void restore_tasks_tell(struct restore_tasks *run, uint32_t pid, enum restore_outcome outcome,
			const char *value, const char *current, int error)
{
	char name[48];
	const struct restore_result result = {
		.policy = TUNABLE_SHARED,
		.name = name,
		.outcome = outcome,
		.value = value,
		.current = current,
		.error = error,
	};

	snprintf(name, sizeof(name), "the %s of task %u", run->what, pid);
	tell(run, &result);
	if (outcome == RESTORE_FAILED)
		run->error = run->error ?: error;
}

int restore_tasks_finish(const struct restore_tasks *run)
{
	char name[64];
	const struct restore_result result = {
		.policy = TUNABLE_SHARED,
		.name = name,
		.outcome = RESTORE_DONE,
		.value = "what they were",
	};

	snprintf(name, sizeof(name), "the %s of %zu task%s", run->what, run->done,
		 run->done == 1 ? "" : "s");
	if (run->done)
		tell(run, &result);
	return run->error;
}
