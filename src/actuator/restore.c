// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/restore.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/restore_run.h"
#include "actuator/schedutil.h"
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

/* Reports and counts the result, and drops the control unless it is to be tried again. */
static void finish(struct restore_run *run, const struct saved_value *saved,
		   struct restore_result *result)
{
	char name[64];

	result->policy = saved->policy;
	result->name = control_name(saved->control);
	if (saved->control == CONTROL_RESUME_LATENCY) {
		snprintf(name, sizeof(name), "%s of CPU %u", result->name, saved->policy);
		result->policy = TUNABLE_SHARED;
		result->name = name;
	}
	result->value = saved->value;
	if (result->error)
		result->outcome = outcome_of_error(result->error);
	restore_tell(run, result);
	if (result->outcome != RESTORE_OFFLINE && result->outcome != RESTORE_FAILED)
		saved_drop(run->saved, saved->policy, saved->control);
}

/* The kernel applies limits later, from a work queue: only the governor can be checked at once. */
static int write_and_check(const struct saved_value *saved)
{
	char current[CONTROL_VALUE_SIZE];
	int r = control_store(saved->control, saved->policy, saved->value);

	if (r < 0 || saved->control != CONTROL_GOVERNOR)
		return r;
	r = control_load(saved->control, saved->policy, current, sizeof(current));
	if (r < 0)
		return r;
	return strcmp(current, saved->value) == 0 ? 0 : -EIO;
}

/*
 * A limit that reads as the saved value may be about to change to our last write; only another
 * write of ours comes after that for certain.
 */
static bool shows_late(const struct saved_value *saved)
{
	return saved->control == CONTROL_MIN_FREQ || saved->control == CONTROL_MAX_FREQ;
}

/* For every control but the speed, whose value does not show who wrote it. Returns the outcome. */
static enum restore_outcome restore_value(struct restore_run *run, enum control control,
					  uint32_t policy)
{
	const struct saved_value *entry = saved_find(run->saved, policy, control);
	struct restore_result result = { 0 };
	char current[CONTROL_VALUE_SIZE];
	struct saved_value saved;
	int r;

	if (!entry)
		return RESTORE_UNCHANGED;

	saved = *entry;
	r = control_load(control, policy, current, sizeof(current));
	if (r < 0) {
		result.error = r;
	} else if (strcmp(current, saved.value) == 0) {
		result.outcome = RESTORE_UNCHANGED;
		if (shows_late(&saved))
			result.error = write_and_check(&saved);
	} else if (strcmp(saved.put, SAVED_ANY) != 0 && strcmp(current, saved.put) != 0) {
		result.outcome = RESTORE_TAKEN_OVER;
		result.current = current;
	} else {
		result.error = write_and_check(&saved);
	}

	finish(run, &saved, &result);
	return result.outcome;
}

/*
 * Writes without comparing: on older kernels scaling_setspeed reads as the current frequency, and
 * an equal number can hide another request.
 */
static void restore_speed(struct restore_run *run, uint32_t policy)
{
	const struct saved_value *entry = saved_find(run->saved, policy, CONTROL_SETSPEED);
	struct restore_result result = { .outcome = RESTORE_DONE };
	struct saved_value saved;

	if (!entry)
		return;

	saved = *entry;
	result.error = control_store(CONTROL_SETSPEED, policy, saved.value);
	finish(run, &saved, &result);
}

/* Only the userspace governor uses a speed; it must be there now and have been there before us. */
static bool speed_is_ours(struct restore_run *run, const struct saved_value *governor,
			  enum restore_outcome outcome)
{
	if (governor && strcmp(governor->value, "userspace") != 0)
		return false;
	return outcome != RESTORE_TAKEN_OVER && outcome != RESTORE_GONE;
}

/* Marks the governor as being restored: from here on it is ours whatever it is, tunables too. */
static void note_begun(struct restore_run *run, struct saved_value *entry)
{
	char current[CONTROL_VALUE_SIZE];

	if (control_load(CONTROL_GOVERNOR, entry->policy, current, sizeof(current)) < 0 ||
	    strcmp(current, entry->put) != 0)
		return;
	strcpy(entry->put, SAVED_ANY);
	saved_save(run->saved);
}

/*
 * Restores the governor, and its tunables if the kernel freed them. The mark is saved first: a
 * process killed between the two leaves the governor with the kernel's defaults.
 */
static enum restore_outcome restore_governor(struct restore_run *run, uint32_t policy,
					     const char *governor)
{
	struct saved_value *entry = saved_find(run->saved, policy, CONTROL_GOVERNOR);
	bool begun = entry && strcmp(entry->put, SAVED_ANY) == 0;
	bool lost = !tunables_exist(policy, governor);
	enum restore_outcome outcome;

	if (entry && lost)
		note_begun(run, entry);
	outcome = restore_value(run, CONTROL_GOVERNOR, policy);
	if ((lost && outcome == RESTORE_DONE) || (begun && outcome == RESTORE_UNCHANGED))
		restore_tunables(run, policy, governor);
	return outcome;
}

/* Writes the limit that makes room first, so that the two never cross. */
static void restore_range(struct restore_run *run, uint32_t policy)
{
	const struct saved_value *max = saved_find(run->saved, policy, CONTROL_MAX_FREQ);
	char min_khz[CONTROL_VALUE_SIZE];
	bool min_first = max &&
			 control_load(CONTROL_MIN_FREQ, policy, min_khz, sizeof(min_khz)) > 0 &&
			 strtoul(max->value, NULL, 10) < strtoul(min_khz, NULL, 10);

	if (max)
		schedutil_note_limits(policy);
	restore_value(run, min_first ? CONTROL_MIN_FREQ : CONTROL_MAX_FREQ, policy);
	restore_value(run, min_first ? CONTROL_MAX_FREQ : CONTROL_MIN_FREQ, policy);
}

static void restore_policy(struct restore_run *run, uint32_t policy)
{
	const struct saved_value *entry = saved_find(run->saved, policy, CONTROL_GOVERNOR);
	struct saved_value governor = { 0 };
	enum restore_outcome outcome;

	if (entry)
		governor = *entry;

	restore_range(run, policy);
	outcome = restore_governor(run, policy, governor.value);
	restore_value(run, CONTROL_PREFERENCE, policy);
	if (speed_is_ours(run, entry ? &governor : NULL, outcome))
		restore_speed(run, policy);
	else
		saved_drop(run->saved, policy, CONTROL_SETSPEED);
}

static int finish_run(struct restore_run *run)
{
	int r;

	restore_settle_tunables(run);
	r = saved_save(run->saved);
	if (run->error)
		return run->error;
	return r < 0 ? r : run->waiting;
}

void restore_limits(struct saved_values *saved, uint32_t policy)
{
	struct restore_run run = { .saved = saved };

	restore_range(&run, policy);
}

enum restore_outcome restore_resume_latency(struct saved_values *saved, uint32_t cpu)
{
	struct restore_run run = { .saved = saved };

	return restore_value(&run, CONTROL_RESUME_LATENCY, cpu);
}

int restore_domain(struct saved_values *saved, uint32_t policy, restore_report_t report,
		   void *userdata)
{
	struct restore_run run = {
		.saved = saved,
		.report = report,
		.userdata = userdata,
	};

	restore_policy(&run, policy);
	return finish_run(&run);
}

/* The lowest policy or CPU of the table that is at least `from`; false if there is none. */
static bool next_policy(const struct saved_values *saved, uint32_t from, uint32_t *ret_policy)
{
	bool found = false;

	for (size_t i = 0; i < saved->n; i++) {
		uint32_t policy = saved->entries[i].policy;

		if (policy >= from && (!found || policy < *ret_policy)) {
			*ret_policy = policy;
			found = true;
		}
	}
	return found;
}

int restore_resume_latencies(struct saved_values *saved, restore_report_t report, void *userdata)
{
	struct restore_run run = { .saved = saved, .report = report, .userdata = userdata };

	for (uint32_t cpu = 0; next_policy(saved, cpu, &cpu); cpu++)
		restore_value(&run, CONTROL_RESUME_LATENCY, cpu);
	return finish_run(&run);
}

int restore_saved(const char *directory, restore_report_t report, void *userdata)
{
	struct restore_run run = { .report = report, .userdata = userdata };
	uint32_t policy = 0;
	int r = saved_open(directory, &run.saved);

	if (r < 0)
		return r;

	for (; next_policy(run.saved, policy, &policy); policy++) {
		restore_policy(&run, policy);
		restore_value(&run, CONTROL_RESUME_LATENCY, policy);
	}

	r = finish_run(&run);
	saved_free(run.saved);
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
	case RESTORE_TAKEN_OVER:
		snprintf(ret_text, size, "left %s at %s: another program set it", name,
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
