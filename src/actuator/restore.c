// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/restore.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/restore_run.h"
#include "shared/cleanup.h"

static enum restore_outcome outcome_of_error(int error)
{
	switch (error) {
	case -EBUSY:
		return RESTORE_OFFLINE;
	case -ENOENT:
	case -ENODEV:
		return RESTORE_GONE;
	default:
		return RESTORE_FAILED;
	}
}

/* Tells, counts, and drops the control from the table if there is nothing left to do for it. */
static void finish(struct restore_run *run, const struct original *original,
		   struct restore_result *result)
{
	result->policy = original->policy;
	result->name = control_name(original->control);
	result->value = original->value;
	if (result->error)
		result->outcome = outcome_of_error(result->error);
	restore_tell(run, result);
	if (result->outcome != RESTORE_OFFLINE && result->outcome != RESTORE_FAILED)
		originals_drop(run->originals, original->policy, original->control);
}

/* Limits are applied later, from a work queue: only the governor can be read back at once. */
static int write_and_check(const struct original *original)
{
	const char *file = control_name(original->control);
	char current[CONTROL_VALUE_SIZE];
	int r = control_write_file(original->policy, file, original->value);

	if (r < 0 || original->control != CONTROL_GOVERNOR)
		return r;
	r = control_read_file(original->policy, file, current, sizeof(current));
	if (r < 0)
		return r;
	return strcmp(current, original->value) == 0 ? 0 : -EIO;
}

/*
 * A limit that reads as the original may be about to become what we wrote last: see above. Only a
 * write of our own is sure to come after that.
 */
static bool shows_late(const struct original *original)
{
	return original->control == CONTROL_MIN_FREQ || original->control == CONTROL_MAX_FREQ;
}

/* For every control but the speed: what it holds tells whose it is. Returns the outcome. */
static enum restore_outcome restore_value(struct restore_run *run, enum control control,
					  uint32_t policy)
{
	const struct original *entry = originals_find(run->originals, policy, control);
	struct restore_result result = { 0 };
	char current[CONTROL_VALUE_SIZE];
	struct original original;
	int r;

	if (!entry)
		return RESTORE_UNCHANGED;

	original = *entry;
	r = control_read_file(policy, control_name(control), current, sizeof(current));
	if (r < 0) {
		result.error = r;
	} else if (strcmp(current, original.value) == 0) {
		result.outcome = RESTORE_UNCHANGED;
		if (shows_late(&original))
			result.error = write_and_check(&original);
	} else if (strcmp(original.put, ORIGINALS_ANY) != 0 && strcmp(current, original.put) != 0) {
		result.outcome = RESTORE_FOREIGN;
		result.current = current;
	} else {
		result.error = write_and_check(&original);
	}

	finish(run, &original, &result);
	return result.outcome;
}

/*
 * Written without comparing: scaling_setspeed reads as the current frequency on older kernels, so
 * that the same number can hide another request.
 */
static void restore_speed(struct restore_run *run, uint32_t policy)
{
	const struct original *entry = originals_find(run->originals, policy, CONTROL_SETSPEED);
	struct restore_result result = { .outcome = RESTORE_DONE };
	struct original original;

	if (!entry)
		return;

	original = *entry;
	result.error = control_write_file(policy, control_name(CONTROL_SETSPEED), original.value);
	finish(run, &original, &result);
}

/* A speed matters only under the userspace governor, as it was before us and is now. */
static bool speed_is_ours(struct restore_run *run, const struct original *governor,
			  enum restore_outcome outcome)
{
	if (governor && strcmp(governor->value, "userspace") != 0)
		return false;
	return outcome != RESTORE_FOREIGN && outcome != RESTORE_GONE;
}

/* With its tunables, when they went away with it. */
static enum restore_outcome restore_governor(struct restore_run *run, uint32_t policy,
					     const char *governor)
{
	bool lost = !tunables_exist(policy, governor);
	enum restore_outcome outcome = restore_value(run, CONTROL_GOVERNOR, policy);

	if (lost && outcome == RESTORE_DONE)
		restore_tunables(run, policy, governor);
	return outcome;
}

/* The one that makes room first, so that the two never cross. */
static void restore_range(struct restore_run *run, uint32_t policy)
{
	const struct original *max = originals_find(run->originals, policy, CONTROL_MAX_FREQ);
	char min_khz[CONTROL_VALUE_SIZE];
	bool min_first = max &&
			 control_read_file(policy, control_name(CONTROL_MIN_FREQ), min_khz,
					   sizeof(min_khz)) > 0 &&
			 strtoul(max->value, NULL, 10) < strtoul(min_khz, NULL, 10);

	restore_value(run, min_first ? CONTROL_MIN_FREQ : CONTROL_MAX_FREQ, policy);
	restore_value(run, min_first ? CONTROL_MAX_FREQ : CONTROL_MIN_FREQ, policy);
}

static void restore_policy(struct restore_run *run, uint32_t policy)
{
	const struct original *entry = originals_find(run->originals, policy, CONTROL_GOVERNOR);
	struct original governor = { 0 };
	enum restore_outcome outcome;

	if (entry)
		governor = *entry;

	restore_range(run, policy);
	outcome = restore_governor(run, policy, governor.value);
	restore_value(run, CONTROL_PREFERENCE, policy);
	if (speed_is_ours(run, entry ? &governor : NULL, outcome))
		restore_speed(run, policy);
	else
		originals_drop(run->originals, policy, CONTROL_SETSPEED);
}

static int finish_run(struct restore_run *run)
{
	int r;

	restore_settle_tunables(run);
	r = originals_save(run->originals);
	if (run->error)
		return run->error;
	return r < 0 ? r : run->waiting;
}

void restore_limits(struct originals *originals, uint32_t policy)
{
	struct restore_run run = { .originals = originals };

	restore_range(&run, policy);
}

int restore_domain(struct originals *originals, uint32_t policy, restore_report_t report,
		   void *userdata)
{
	struct restore_run run = {
		.originals = originals,
		.report = report,
		.userdata = userdata,
	};

	restore_policy(&run, policy);
	return finish_run(&run);
}

/* The lowest policy of the table that is at least `from`; false if there is none. */
static bool next_policy(const struct originals *originals, uint32_t from, uint32_t *ret_policy)
{
	bool found = false;

	for (size_t i = 0; i < originals->n; i++) {
		uint32_t policy = originals->entries[i].policy;

		if (policy >= from && (!found || policy < *ret_policy)) {
			*ret_policy = policy;
			found = true;
		}
	}
	return found;
}

int restore_originals(const char *directory, restore_report_t report, void *userdata)
{
	struct restore_run run = { .report = report, .userdata = userdata };
	uint32_t policy = 0;
	int r = originals_open(directory, &run.originals);

	if (r < 0)
		return r == -ENOENT ? 0 : r;

	for (; next_policy(run.originals, policy, &policy); policy++)
		restore_policy(&run, policy);

	r = finish_run(&run);
	originals_free(run.originals);
	return r;
}

void restore_describe(const struct restore_result *result, char *ret_text, size_t size)
{
	char domain[24] = "", name[96];

	if (result->policy != TUNABLE_SHARED)
		snprintf(domain, sizeof(domain), "policy%u ", result->policy);
	snprintf(name, sizeof(name), "%s%s", domain, result->name);

	switch (result->outcome) {
	case RESTORE_DONE:
		snprintf(ret_text, size, "restored %s to %s", name, result->value);
		break;
	case RESTORE_UNCHANGED:
		snprintf(ret_text, size, "%s is %s as before", name, result->value);
		break;
	case RESTORE_FOREIGN:
		snprintf(ret_text, size, "left %s at %s: somebody else set it", name,
			 result->current);
		break;
	case RESTORE_GONE:
		snprintf(ret_text, size, "%s is gone: nothing to restore", name);
		break;
	case RESTORE_OFFLINE:
		snprintf(ret_text, size,
			 "policy%u is offline: %s stays to be restored to %s, by wakegovd "
			 "--restore when a CPU of it is online",
			 result->policy, result->name, result->value);
		break;
	case RESTORE_FAILED:
		snprintf(ret_text, size, "could not restore %s to %s: %s", name, result->value,
			 strerror(-result->error));
		break;
	}
}
