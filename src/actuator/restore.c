// SPDX-License-Identifier: GPL-2.0-only
/*
 * Restores entries of the table of saved values. restore_entry() restores one, restore_policy()
 * those of a domain in the order of saved.h, and finish_run() the remaining tunables.
 */
#include "actuator/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/discovery.h"
#include "actuator/limits.h"
#include "shared/cleanup.h"

/* One restoration of a domain, a CPU or all. */
struct restore_run {
	struct saved_values *saved;
	restore_report_t report; /* may be NULL */
	void *userdata;
	unsigned int taken; /* bits 1 << enum control: taken over by another program, these stay */
	bool again;	    /* failing tunables are tried again, and not reported yet */
	int waiting;	    /* controls of offline domains, and hidden ones */
	int error;	    /* the first one */
};

static void report_entry(struct restore_run *run, const struct saved_value *entry,
			 enum restore_outcome outcome, const char *current, int error)
{
	const char *name = strrchr(entry->path, '/') + 1;
	char text[CONTROL_PATH_SIZE];
	const struct restore_result result = {
		.policy = entry->policy,
		.name = text,
		.outcome = outcome,
		.value = entry->value,
		.current = current,
		.error = error,
	};

	if (entry->control == CONTROL_TUNABLE) /* and its governor */
		for (name -= 2; name[-1] != '/'; name--)
			;
	snprintf(text, sizeof(text), "%s", name);
	if (run->report)
		run->report(run->userdata, &result);
	if (outcome == RESTORE_OFFLINE || outcome == RESTORE_HIDDEN)
		run->waiting++;
	else if (outcome == RESTORE_FAILED)
		run->error = run->error ?: error;
}

/*
 * Reports and counts the outcome, or the error if there is one. Drops the entry unless it is to be
 * tried again. Reports a tunable only if it was or could have been written.
 */
static enum restore_outcome conclude(struct restore_run *run, struct saved_value *entry,
				     enum restore_outcome outcome, const char *current, int error)
{
	bool is_tunable = entry->control == CONTROL_TUNABLE;

	if (error == -EBUSY && !is_tunable)
		outcome = RESTORE_OFFLINE;
	else if (error)
		outcome = error == -ENOENT || error == -ENODEV || error == -EBUSY ? RESTORE_GONE
										  : RESTORE_FAILED;
	if (!is_tunable ||
	    (outcome != RESTORE_UNCHANGED && !(outcome == RESTORE_FAILED && run->again))) {
		entry->tried = outcome == RESTORE_FAILED;
		report_entry(run, entry, outcome, current, error);
	}
	if (outcome != RESTORE_OFFLINE && outcome != RESTORE_HIDDEN && outcome != RESTORE_FAILED)
		saved_drop(run->saved, entry);
	return outcome;
}

/* The kernel applies limits later, from a work queue. */
static int write_and_check(const struct saved_value *entry, const char *value)
{
	char current[SAVED_VALUE_SIZE];
	int r = control_write_path(entry->path, value);

	if (r < 0 || (entry->control != CONTROL_GOVERNOR && entry->control != CONTROL_PREFERENCE &&
		      entry->control != CONTROL_TUNABLE))
		return r;
	r = control_read_path(entry->path, current, sizeof(current));
	if (r < 0)
		return r;
	return strcmp(current, value) == 0 ? 0 : -EIO;
}

/* For every control but the speed, whose value does not show its writer. */
static enum restore_outcome restore_entry(struct restore_run *run, struct saved_value *entry)
{
	bool is_limit = entry->control == CONTROL_MIN_FREQ || entry->control == CONTROL_MAX_FREQ;
	char current[SAVED_VALUE_SIZE];
	int r = control_read_path(entry->path, current, sizeof(current));

	if (r < 0)
		return conclude(run, entry, RESTORE_FAILED, NULL, r);
	if (entry->control == CONTROL_PREFERENCE &&
	    control_preference_is_hidden(entry->policy, current)) {
		entry->hidden = true;
		return conclude(run, entry, RESTORE_HIDDEN, NULL, 0);
	}
	/*
	 * A limit that reads as the saved value may still change to our last write; only another
	 * write is sure to come after that.
	 */
	if (strcmp(current, entry->value) == 0)
		return conclude(run, entry, RESTORE_UNCHANGED, NULL,
				is_limit ? write_and_check(entry, entry->value) : 0);
	if (!saved_is_ours(entry, current))
		return conclude(run, entry, RESTORE_TAKEN_OVER, current, 0);
	r = write_and_check(entry, entry->value);
	/* The kernel's default, with which it came back, or the kernel's version of our value. */
	if (r < 0 && entry->control == CONTROL_TUNABLE)
		control_read_path(entry->path, entry->ours, sizeof(entry->ours));
	return conclude(run, entry, RESTORE_DONE, NULL, r);
}

static enum restore_outcome restore_control(struct restore_run *run, enum control control,
					    uint32_t number)
{
	struct saved_value *entry = saved_find(run->saved, number, control);

	return entry && !(run->taken & 1u << control) ? restore_entry(run, entry)
						      : RESTORE_UNCHANGED;
}

static bool awaits_governor(const struct saved_values *saved, const struct saved_value *tunable)
{
	for (size_t i = 0; i < saved->n; i++)
		if (saved->entries[i].control == CONTROL_GOVERNOR &&
		    saved_is_tunable_of(tunable, saved->entries[i].policy, saved->entries[i].value))
			return true;
	return false;
}

/*
 * A tunable whose governor needs no restoration was never freed, or another program restored the
 * governor: it is dropped unwritten. One that failed in an earlier run is tried again, unless
 * another program changed it.
 */
static void finish_tunable(struct restore_run *run, struct saved_value *tunable)
{
	char current[SAVED_VALUE_SIZE];

	if (tunable->tried || awaits_governor(run->saved, tunable))
		return;
	if (strcmp(tunable->ours, SAVED_ANY) != 0)
		restore_entry(run, tunable);
	else if (control_read_path(tunable->path, current, sizeof(current)) >= 0 &&
		 strcmp(current, tunable->value) != 0)
		conclude(run, tunable, RESTORE_TAKEN_OVER, current, 0);
	else
		saved_drop(run->saved, tunable);
}

/*
 * Restores or finishes the tunables of a governor of policyN, or all (NULL). Failing ones are tried
 * again after the rest, as one can depend on another (up_threshold > down_threshold).
 */
static void each_tunable(struct restore_run *run, uint32_t policy, const char *governor)
{
	struct saved_values *saved = run->saved;

	for (int try = 0; try < 2; try++) {
		run->again = try == 0;
		for (size_t i = 0, n; n = saved->n, i < n; i += saved->n == n) {
			struct saved_value *entry = &saved->entries[i];

			if (!governor && entry->control == CONTROL_TUNABLE)
				finish_tunable(run, entry);
			else if (governor && saved_is_tunable_of(entry, policy, governor))
				restore_entry(run, entry);
		}
	}
}

/* Saves the table. */
static int finish_run(struct restore_run *run)
{
	int r;

	each_tunable(run, CONTROL_SHARED, NULL);
	r = saved_save(run->saved);
	if (run->error)
		return run->error;
	return r < 0 ? r : run->waiting;
}

static bool tunables_exist(uint32_t policy, const char *governor)
{
	const uint32_t owners[] = { policy, CONTROL_SHARED };
	char path[CONTROL_PATH_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		_cleanup_close_ int fd = -1;

		control_tunables_path(owners[i], governor, path);
		fd = control_open_path(path, O_RDONLY | O_DIRECTORY);
		if (fd >= 0)
			return true;
	}
	return false;
}

/*
 * Restores the governor. Restores its tunables too if no domain had it before, as the kernel then
 * created them with its defaults. First the governor's line gets the mark `*` as our value: from
 * here on any governor counts as ours, and its tunables too, since a kill between the two leaves
 * the kernel's defaults there.
 */
static enum restore_outcome restore_governor(struct restore_run *run, uint32_t policy)
{
	struct saved_value *entry = saved_find(run->saved, policy, CONTROL_GOVERNOR);
	char current[SAVED_VALUE_SIZE], governor[SAVED_VALUE_SIZE];
	enum restore_outcome outcome;
	bool begun, lost;

	if (!entry || run->taken & 1u << CONTROL_GOVERNOR)
		return RESTORE_UNCHANGED;
	strcpy(governor, entry->value);
	begun = strcmp(entry->ours, SAVED_ANY) == 0;
	lost = !tunables_exist(policy, governor);
	if (lost && control_read_path(entry->path, current, sizeof(current)) >= 0 &&
	    strcmp(current, entry->ours) == 0) {
		strcpy(entry->ours, SAVED_ANY);
		saved_save(run->saved);
	}
	outcome = restore_entry(run, entry);
	if ((!lost || outcome != RESTORE_DONE) && (!begun || outcome != RESTORE_UNCHANGED))
		return outcome;
	for (size_t i = 0; i < run->saved->n; i++)
		if (saved_is_tunable_of(&run->saved->entries[i], policy, governor))
			strcpy(run->saved->entries[i].ours, SAVED_ANY);
	each_tunable(run, policy, governor);
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
	restore_control(run, min_first ? CONTROL_MIN_FREQ : CONTROL_MAX_FREQ, policy);
	restore_control(run, min_first ? CONTROL_MAX_FREQ : CONTROL_MIN_FREQ, policy);
}

/*
 * Whether another program drives the domain by a speed of its own. It then keeps our governor too.
 */
static bool speed_is_taken(struct restore_run *run, uint32_t policy)
{
	const struct saved_value *speed = saved_find(run->saved, policy, CONTROL_SETSPEED);
	char governor[CONTROL_VALUE_SIZE];

	return speed && strcmp(speed->ours, SAVED_ANY) != 0 &&
	       control_load(CONTROL_GOVERNOR, policy, governor, sizeof(governor)) >= 0 &&
	       strcmp(governor, "userspace") == 0 &&
	       restore_control(run, CONTROL_SETSPEED, policy) == RESTORE_TAKEN_OVER;
}

static void restore_policy(struct restore_run *run, uint32_t policy)
{
	const struct saved_value *governor = saved_find(run->saved, policy, CONTROL_GOVERNOR);
	bool had_speed = !governor || strcmp(governor->value, "userspace") == 0;
	char name[SCHED_EXT_NAME_SIZE];
	struct schedutil_visit visit = { 0 };
	enum restore_outcome outcome;
	struct saved_value *speed;

	restore_range(run, policy);
	if (speed_is_taken(run, policy))
		saved_drop(run->saved, saved_find(run->saved, policy, CONTROL_GOVERNOR));
	outcome = restore_governor(run, policy);
	restore_control(run, CONTROL_PREFERENCE, policy);
	/* Lets schedutil run, which would otherwise keep the frequency of our limits. */
	if (sched_ext_has_all("/sys", name) && !schedutil_visit(&visit, policy))
		schedutil_visit_wait(&visit);
	speed = saved_find(run->saved, policy, CONTROL_SETSPEED);
	if (!speed || run->taken & 1u << CONTROL_SETSPEED)
		return;
	/*
	 * Only the userspace governor uses a speed, so it must be in charge now and before us. The
	 * speed is written without a comparison: on older kernels scaling_setspeed reads as the
	 * current frequency, and an equal number can hide another request.
	 */
	if (had_speed && outcome != RESTORE_TAKEN_OVER && outcome != RESTORE_GONE)
		conclude(run, speed, RESTORE_DONE, NULL,
			 control_write_path(speed->path, speed->value));
	else
		saved_drop(run->saved, speed);
}

int restore_others(struct saved_values *saved, uint32_t policy, enum control control,
		   const char *ours)
{
	struct restore_run run = { .saved = saved, .taken = 1u << control };
	struct saved_value *entry = saved_find(saved, policy, control), speed;
	int error, r = 0;

	if (entry) {
		strcpy(entry->ours, ours);
	} else if (control == CONTROL_SETSPEED) {
		speed = saved_entry(policy, CONTROL_SETSPEED, ours, ours);
		r = saved_add(saved, &speed, 1);
	}
	if (control == CONTROL_GOVERNOR || control == CONTROL_SETSPEED)
		run.taken |= 1u << CONTROL_GOVERNOR | 1u << CONTROL_SETSPEED;
	restore_policy(&run, policy);
	error = finish_run(&run);
	return r < 0 || error > 0 ? r : error;
}

int restore_domain(struct saved_values *saved, uint32_t policy, restore_report_t report,
		   void *userdata)
{
	struct restore_run run = { .saved = saved, .report = report, .userdata = userdata };

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

	if (restore_control(&run, control, number) == RESTORE_TAKEN_OVER)
		return -ESTALE;
	if (run.error || run.waiting)
		return run.error ?: -EBUSY;
	r = saved_add(saved, &entry, 1);
	if (r < 0)
		return r;
	r = write_and_check(&entry, value);
	if (r < 0) {
		restore_control(&run, control, number);
		saved_save(saved);
	}
	return r;
}

/* The lowest policy of the table from `from` on; CONTROL_SHARED: there is none. */
static uint32_t next_policy(const struct saved_values *saved, uint32_t from)
{
	uint32_t next = CONTROL_SHARED;

	for (size_t i = 0; i < saved->n; i++)
		if (saved->entries[i].policy >= from && saved->entries[i].policy < next)
			next = saved->entries[i].policy;
	return next;
}

int restore_saved(const char *directory, restore_report_t report, void *userdata)
{
	struct restore_run run = { .report = report, .userdata = userdata };
	uint32_t policy = 0;
	int r = saved_open(directory, &run.saved);

	if (r < 0)
		return r;
	restore_visit(run.saved);
	for (; (policy = next_policy(run.saved, policy)) != CONTROL_SHARED; policy++)
		restore_policy(&run, policy);
	r = finish_run(&run);
	saved_free(run.saved);
	return r;
}

void restore_describe(const struct restore_result *result, char *ret_text, size_t size)
{
	bool no_min = !strcmp(result->name, control_names[CONTROL_MIN_FREQ]) &&
		      !strcmp(result->value, LIMIT_NO_MIN);
	bool no_max = !strcmp(result->name, control_names[CONTROL_MAX_FREQ]) &&
		      !strcmp(result->value, LIMIT_NO_MAX);
	const char *value = no_min || no_max ? "no limit" : result->value;
	char domain[24] = "", name[96];

	if (result->policy != CONTROL_SHARED)
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
