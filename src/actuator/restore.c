// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/restore.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/limits.h"
#include "actuator/saved.h"
#include "shared/cleanup.h"

/* One restoration of a domain, a CPU or all. */
struct restore_run {
	struct saved_values *saved;
	restore_report_t report; /* may be NULL */
	void *userdata;
	unsigned int taken; /* bits 1 << enum control, which another program took over: they stay */
	int waiting;	    /* controls of offline domains, and hidden ones */
	int error;	    /* the first one */
};

/* Reports and counts one result. The caller drops the control from the table when it is done. */
static void report_result(struct restore_run *run, const struct restore_result *result)
{
	if (run->report)
		run->report(run->userdata, result);
	if (result->outcome == RESTORE_OFFLINE || result->outcome == RESTORE_HIDDEN)
		run->waiting++;
	else if (result->outcome == RESTORE_FAILED)
		run->error = run->error ?: result->error;
}

static bool is_gone(int error)
{
	return error == -ENOENT || error == -ENODEV;
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
	if (result->error == -EBUSY)
		result->outcome = RESTORE_OFFLINE;
	else if (result->error)
		result->outcome = is_gone(result->error) ? RESTORE_GONE : RESTORE_FAILED;
	report_result(run, result);
	result->name = NULL;
	if (result->outcome != RESTORE_OFFLINE && result->outcome != RESTORE_HIDDEN &&
	    result->outcome != RESTORE_FAILED)
		saved_drop(run->saved, saved->policy, saved->control);
}

/* The kernel applies limits later, from a work queue, and takes every resume latency. */
static int write_and_check(enum control control, uint32_t number, const char *value)
{
	char current[CONTROL_VALUE_SIZE];
	int r = control_store(control, number, value);

	if (r < 0 || (control != CONTROL_GOVERNOR && control != CONTROL_PREFERENCE))
		return r;
	r = control_load(control, number, current, sizeof(current));
	if (r < 0)
		return r;
	return strcmp(current, value) == 0 ? 0 : -EIO;
}

/* For every control but the speed, whose value does not show who wrote it. Returns the outcome. */
static enum restore_outcome restore_value(struct restore_run *run, enum control control,
					  uint32_t number)
{
	struct saved_value *entry = saved_find(run->saved, number, control);
	struct restore_result result = { 0 };
	char current[CONTROL_VALUE_SIZE];
	struct saved_value saved;
	int r;

	if (!entry || run->taken & 1u << control)
		return RESTORE_UNCHANGED;

	saved = *entry;
	r = control_load(control, number, current, sizeof(current));
	if (r < 0) {
		result.error = r;
	} else if (control == CONTROL_PREFERENCE && control_preference_is_hidden(number, current)) {
		result.outcome = RESTORE_HIDDEN;
		entry->hidden = true;
	} else if (strcmp(current, saved.value) == 0) {
		result.outcome = RESTORE_UNCHANGED;
		/*
		 * A limit that reads as the saved value may be about to change to our last write;
		 * only another write of ours comes after that for certain.
		 */
		if (control == CONTROL_MIN_FREQ || control == CONTROL_MAX_FREQ)
			result.error = write_and_check(control, number, saved.value);
	} else if (!saved_is_ours(&saved, current)) {
		result.outcome = RESTORE_TAKEN_OVER;
		result.current = current;
	} else {
		result.error = write_and_check(control, number, saved.value);
	}

	finish(run, &saved, &result);
	return result.outcome;
}

static void report_tunable(struct restore_run *run, const struct tunable *tunable,
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
	report_result(run, &result);
}

/*
 * Writes the saved value if the tunable has the kernel's default. Returns whether the tunable is
 * done. Reports only writes, and a failure only if it is the last try.
 */
static bool restore_tunable(struct restore_run *run, struct tunable *tunable, bool last)
{
	char current[TUNABLE_VALUE_SIZE];
	int r = tunable_read(tunable, current);

	if (is_gone(r) || r == -EBUSY) {
		report_tunable(run, tunable, RESTORE_GONE, NULL, 0);
		return true;
	}
	if (r == 0 && strcmp(current, tunable->value) == 0)
		return true;
	if (r == 0 && strcmp(tunable->put, SAVED_ANY) == 0)
		strcpy(tunable->put, current);
	if (r == 0 && strcmp(current, tunable->put) != 0) {
		report_tunable(run, tunable, RESTORE_TAKEN_OVER, current, 0);
		return true;
	}

	if (r == 0)
		r = tunable_write(tunable, tunable->value);
	if (r == 0)
		r = tunable_read(tunable, tunable->put);
	if (r == 0 && strcmp(tunable->put, tunable->value) != 0)
		r = -EIO;
	tunable->tried = r < 0 && last;
	if (r == 0 || last)
		report_tunable(run, tunable, r < 0 ? RESTORE_FAILED : RESTORE_DONE, NULL, r);
	return r == 0;
}

static bool belongs(const struct tunable *tunable, uint32_t policy, const char *governor)
{
	return (tunable->policy == policy || tunable->policy == TUNABLE_SHARED) &&
	       strcmp(tunable->governor, governor) == 0;
}

/*
 * Restores the tunables of a governor that policyN has just got back, if no domain had it before:
 * the kernel then made them with its defaults. Those that fail are tried again after the rest, as
 * one can depend on another (up_threshold > down_threshold).
 */
static void restore_tunables(struct restore_run *run, uint32_t policy, const char *governor)
{
	struct saved_values *saved = run->saved;

	for (size_t i = 0; i < saved->n_tunables; i++)
		if (belongs(&saved->tunables[i], policy, governor))
			strcpy(saved->tunables[i].put, SAVED_ANY);
	for (int try = 0; try < 2; try++)
		for (size_t i = 0; i < saved->n_tunables;)
			if (belongs(&saved->tunables[i], policy, governor) &&
			    restore_tunable(run, &saved->tunables[i], try == 1))
				saved_drop_tunable(saved, i);
			else
				i++;
}

/* Returns whether the tunable is done at the end of a run. */
static bool settle_tunable(struct restore_run *run, struct tunable *tunable, bool last)
{
	char current[TUNABLE_VALUE_SIZE];

	if (tunable->tried || saved_awaits_governor(run->saved, tunable))
		return false;
	if (strcmp(tunable->put, SAVED_ANY) != 0)
		return restore_tunable(run, tunable, last);

	if (tunable_read(tunable, current) == 0 && strcmp(current, tunable->value) != 0)
		report_tunable(run, tunable, RESTORE_TAKEN_OVER, current, 0);
	return true;
}

/*
 * Saves the table. Tunables whose governor needs no restoration any more were never freed, or
 * another program restored it: they are dropped unwritten. Those that failed in an earlier run are
 * tried again, unless another program changed them.
 */
static int finish_run(struct restore_run *run)
{
	struct saved_values *saved = run->saved;
	int r;

	for (int try = 0; try < 2; try++)
		for (size_t i = 0; i < saved->n_tunables;)
			if (settle_tunable(run, &saved->tunables[i], try == 1))
				saved_drop_tunable(saved, i);
			else
				i++;
	r = saved_save(saved);
	if (run->error)
		return run->error;
	return r < 0 ? r : run->waiting;
}

/*
 * Restores the governor, and its tunables if the kernel freed them. A mark is saved first, `*` as
 * what we put there: from here on the governor counts as ours whatever it is, and its tunables with
 * it, since a process that is killed between the two leaves them with the kernel's defaults.
 */
static enum restore_outcome restore_governor(struct restore_run *run, uint32_t policy,
					     const char *governor)
{
	struct saved_value *entry = saved_find(run->saved, policy, CONTROL_GOVERNOR);
	bool begun = entry && strcmp(entry->put, SAVED_ANY) == 0;
	bool lost = !tunables_exist(policy, governor);
	char current[CONTROL_VALUE_SIZE];
	enum restore_outcome outcome;

	if (run->taken & 1u << CONTROL_GOVERNOR)
		return RESTORE_UNCHANGED;
	if (entry && lost &&
	    control_load(CONTROL_GOVERNOR, policy, current, sizeof(current)) >= 0 &&
	    strcmp(current, entry->put) == 0) {
		strcpy(entry->put, SAVED_ANY);
		saved_save(run->saved);
	}
	outcome = restore_value(run, CONTROL_GOVERNOR, policy);
	if ((lost && outcome == RESTORE_DONE) || (begun && outcome == RESTORE_UNCHANGED))
		restore_tunables(run, policy, governor);
	return outcome;
}

void restore_visit(struct saved_values *saved)
{
	_cleanup_free_ struct schedutil_visit *visits = calloc(saved->n + 1, sizeof(*visits));

	for (size_t i = 0; visits && i < saved->n; i++) {
		struct saved_value *entry = &saved->entries[i];

		if (entry->control != CONTROL_MAX_FREQ)
			continue;
		schedutil_visit(&visits[i], entry->policy);
		entry->visited = true;
	}
	for (size_t i = 0; visits && i < saved->n; i++)
		schedutil_visit_wait(&visits[i]);
}

/* Writes the limit that makes room first, so that the two never cross. */
static void restore_range(struct restore_run *run, uint32_t policy)
{
	const struct saved_value *max = saved_find(run->saved, policy, CONTROL_MAX_FREQ);
	struct schedutil_visit visit = { 0 };
	char min_khz[CONTROL_VALUE_SIZE];
	bool min_first = max &&
			 control_load(CONTROL_MIN_FREQ, policy, min_khz, sizeof(min_khz)) > 0 &&
			 strtoul(max->value, NULL, 10) < strtoul(min_khz, NULL, 10);

	if (max && !max->visited && !schedutil_visit(&visit, policy))
		schedutil_visit_wait(&visit);
	restore_value(run, min_first ? CONTROL_MIN_FREQ : CONTROL_MAX_FREQ, policy);
	restore_value(run, min_first ? CONTROL_MAX_FREQ : CONTROL_MIN_FREQ, policy);
}

/*
 * Whether another program drives the domain by a speed of its own: it keeps the governor, which is
 * ours, with it.
 */
static bool speed_is_taken(struct restore_run *run, uint32_t policy)
{
	const struct saved_value *speed = saved_find(run->saved, policy, CONTROL_SETSPEED);
	char governor[CONTROL_VALUE_SIZE];

	return speed && strcmp(speed->put, SAVED_ANY) != 0 &&
	       control_load(CONTROL_GOVERNOR, policy, governor, sizeof(governor)) >= 0 &&
	       strcmp(governor, "userspace") == 0 &&
	       restore_value(run, CONTROL_SETSPEED, policy) == RESTORE_TAKEN_OVER;
}

static void restore_policy(struct restore_run *run, uint32_t policy)
{
	const struct saved_value *entry = saved_find(run->saved, policy, CONTROL_GOVERNOR);
	struct saved_value governor = entry ? *entry : (struct saved_value){ 0 }, speed;
	struct restore_result result = { .outcome = RESTORE_DONE };
	enum restore_outcome outcome;

	restore_range(run, policy);
	if (speed_is_taken(run, policy))
		saved_drop(run->saved, policy, CONTROL_GOVERNOR);
	outcome = restore_governor(run, policy, governor.value);
	restore_value(run, CONTROL_PREFERENCE, policy);
	entry = saved_find(run->saved, policy, CONTROL_SETSPEED);
	if (!entry || run->taken & 1u << CONTROL_SETSPEED)
		return;
	/* Only the userspace governor uses a speed; it must be there now, and before us. */
	if ((governor.value[0] && strcmp(governor.value, "userspace") != 0) ||
	    outcome == RESTORE_TAKEN_OVER || outcome == RESTORE_GONE) {
		saved_drop(run->saved, policy, CONTROL_SETSPEED);
		return;
	}
	/*
	 * Written without comparing: on older kernels scaling_setspeed reads as the current
	 * frequency, and an equal number can hide another request.
	 */
	speed = *entry;
	result.error = control_store(CONTROL_SETSPEED, policy, speed.value);
	finish(run, &speed, &result);
}

int restore_others(struct saved_values *saved, uint32_t policy, enum control control,
		   const char *ours)
{
	struct restore_run run = { .saved = saved, .taken = 1u << control };
	struct saved_value *entry = saved_find(saved, policy, control), speed;
	int error, r = 0;

	if (entry) {
		strcpy(entry->put, ours);
	} else if (control == CONTROL_SETSPEED) {
		speed = saved_entry(policy, CONTROL_SETSPEED, ours, ours);
		r = saved_add(saved, &speed, 1, NULL, 0);
	}
	if (control == CONTROL_GOVERNOR || control == CONTROL_SETSPEED)
		run.taken |= 1u << CONTROL_GOVERNOR | 1u << CONTROL_SETSPEED;
	restore_policy(&run, policy);
	error = finish_run(&run);
	return r < 0 || error > 0 ? r : error;
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

int restore_and_set(struct saved_values *saved, enum control control, uint32_t number,
		    const char *now, const char *value)
{
	const struct saved_value *old = saved_find(saved, number, control);
	struct saved_value entry = saved_entry(number, control, old ? old->value : now, value);
	struct restore_run run = { .saved = saved };
	int r;

	if (restore_value(&run, control, number) == RESTORE_TAKEN_OVER)
		return -ESTALE;
	if (run.error || run.waiting)
		return run.error ?: -EBUSY;
	r = saved_add(saved, &entry, 1, NULL, 0);
	if (r < 0)
		return r;
	r = write_and_check(control, number, value);
	if (r < 0) {
		restore_value(&run, control, number);
		saved_save(saved);
	}
	return r;
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

	restore_visit(run.saved);
	for (; next_policy(run.saved, policy, &policy); policy++) {
		restore_policy(&run, policy);
		restore_value(&run, CONTROL_RESUME_LATENCY, policy);
	}

	r = finish_run(&run);
	saved_free(run.saved);
	return r;
}

static const char *describe_value(const struct restore_result *result)
{
	bool is_none = (!strcmp(result->name, control_name(CONTROL_MIN_FREQ)) &&
			!strcmp(result->value, LIMIT_NO_MIN)) ||
		       (!strcmp(result->name, control_name(CONTROL_MAX_FREQ)) &&
			!strcmp(result->value, LIMIT_NO_MAX));

	return is_none ? "no limit" : result->value;
}

void restore_describe(const struct restore_result *result, char *ret_text, size_t size)
{
	const char *value = describe_value(result);
	char domain[24] = "", name[96];

	if (result->policy != TUNABLE_SHARED)
		snprintf(domain, sizeof(domain), "policy%u ", result->policy);
	snprintf(name, sizeof(name), "%s%s", domain, result->name);

	switch (result->outcome) {
	case RESTORE_DONE:
		snprintf(ret_text, size, "restored %s to %s", name, value);
		break;
	case RESTORE_UNCHANGED:
		snprintf(ret_text, size, "%s is %s as before", name, value);
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
			 result->policy, result->name, value);
		break;
	case RESTORE_HIDDEN:
		snprintf(ret_text, size,
			 "%s stays to be restored to %s, by wakegovd --restore when "
			 "scaling_governor is no longer performance",
			 name, value);
		break;
	case RESTORE_FAILED:
		snprintf(ret_text, size, "could not restore %s to %s: %s", name, value,
			 strerror(-result->error));
		break;
	}
}
