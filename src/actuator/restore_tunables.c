// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "actuator/restore_run.h"

static void tell(struct restore_run *run, const struct tunable *tunable,
		 enum restore_outcome outcome, const char *current, int error)
{
	char name[CONTROL_VALUE_SIZE + TUNABLE_NAME_SIZE];
	const struct restore_result result = {
		.policy = tunable->policy,
		.name = name,
		.outcome = outcome,
		.value = tunable->value,
		.current = current,
		.error = error,
	};

	snprintf(name, sizeof(name), "%s/%s", tunable->governor, tunable->name);
	restore_tell(run, &result);
}

/* Does not report the first failure, as a second try follows. Always returns false. */
static bool fail(struct restore_run *run, struct tunable *tunable, int error, bool last)
{
	if (last) {
		tunable->tried = true;
		tell(run, tunable, RESTORE_FAILED, NULL, error);
	}
	return false;
}

static int write_and_check(struct tunable *tunable)
{
	int r = tunable_write(tunable, tunable->value);

	if (r < 0)
		return r;
	r = tunable_read(tunable, tunable->put);
	if (r < 0)
		return r;
	return strcmp(tunable->put, tunable->value) == 0 ? 0 : -EIO;
}

static bool is_gone(int error)
{
	return error == -ENOENT || error == -ENODEV || error == -EBUSY;
}

/*
 * Writes the saved value if the tunable has the kernel's default. Returns whether the tunable is
 * done. Reports only writes.
 */
static bool restore(struct restore_run *run, struct tunable *tunable, bool last)
{
	char current[TUNABLE_VALUE_SIZE];
	int r = tunable_read(tunable, current);

	if (is_gone(r)) {
		tell(run, tunable, RESTORE_GONE, NULL, 0);
		return true;
	}
	if (r < 0)
		return fail(run, tunable, r, last);
	if (strcmp(current, tunable->value) == 0)
		return true;
	if (strcmp(tunable->put, SAVED_ANY) == 0)
		strcpy(tunable->put, current);
	if (strcmp(current, tunable->put) != 0) {
		tell(run, tunable, RESTORE_TAKEN_OVER, current, 0);
		return true;
	}

	r = write_and_check(tunable);
	if (r < 0)
		return fail(run, tunable, r, last);
	tell(run, tunable, RESTORE_DONE, NULL, 0);
	return true;
}

static bool belongs(const struct tunable *tunable, uint32_t policy, const char *governor)
{
	return (tunable->policy == policy || tunable->policy == TUNABLE_SHARED) &&
	       strcmp(tunable->governor, governor) == 0;
}

static void try_each(struct restore_run *run, uint32_t policy, const char *governor, bool last)
{
	struct saved_values *saved = run->saved;

	for (size_t i = 0; i < saved->n_tunables;)
		if (belongs(&saved->tunables[i], policy, governor) &&
		    restore(run, &saved->tunables[i], last))
			saved_drop_tunable(saved, i);
		else
			i++;
}

void restore_tunables(struct restore_run *run, uint32_t policy, const char *governor)
{
	for (size_t i = 0; i < run->saved->n_tunables; i++) {
		struct tunable *tunable = &run->saved->tunables[i];

		if (belongs(tunable, policy, governor))
			strcpy(tunable->put, SAVED_ANY);
	}
	try_each(run, policy, governor, false);
	try_each(run, policy, governor, true);
}

/* Returns whether the tunable is done. */
static bool settle(struct restore_run *run, struct tunable *tunable, bool last)
{
	char current[TUNABLE_VALUE_SIZE];

	if (tunable->tried || saved_awaits_governor(run->saved, tunable))
		return false;
	if (strcmp(tunable->put, SAVED_ANY) != 0)
		return restore(run, tunable, last);

	if (tunable_read(tunable, current) == 0 && strcmp(current, tunable->value) != 0)
		tell(run, tunable, RESTORE_TAKEN_OVER, current, 0);
	return true;
}

static void settle_each(struct restore_run *run, bool last)
{
	struct saved_values *saved = run->saved;

	for (size_t i = 0; i < saved->n_tunables;)
		if (settle(run, &saved->tunables[i], last))
			saved_drop_tunable(saved, i);
		else
			i++;
}

void restore_settle_tunables(struct restore_run *run)
{
	settle_each(run, false);
	settle_each(run, true);
}
