// SPDX-License-Identifier: GPL-2.0-only
/* Adds and cancels overrides, ends those that are over, and puts them into the policy in force. */
#include "daemon/modules/overrides.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/rule.h"
#include "daemon/journal.h"
#include "daemon/rule_tracking.h"
#include "shared/log.h"
#include "shared/statefile.h"
#include "shared/time.h"

#define WHOM_SIZE 80

/* Other overrides are in the table. Rules, and the matches of all tasks, stay with those of tasks.
 */
static void apply(struct overrides *overrides, bool of_tasks)
{
	struct core *core = overrides->core;

	overrides_fill(overrides, &core->policy);
	engine_set_policy(core->engine, &core->policy, time_now_ns());
	if (of_tasks)
		rule_tracking_set_policy(core);
}

static void save(struct overrides *overrides)
{
	const char *run_dir = overrides->core->options->run_dir;
	int r = overrides_save(overrides, run_dir);

	if (r < 0 && !overrides->unsaved)
		log_warning("overrides are in force, but a restart of wakegovd will end them: "
			    "cannot write %s/" OVERRIDE_FILE ": %s",
			    run_dir, strerror(-r));
	overrides->unsaved = r < 0;
}

static void changed(struct overrides *overrides, bool of_tasks)
{
	apply(overrides, of_tasks);
	save(overrides);
}

static void report(const struct overrides *overrides, const struct override *override,
		   const char *what, const char *why)
{
	const struct policy_override *target = &override->target;
	struct event about = { 0 };
	char whom[WHOM_SIZE];

	if (override->domain[0]) {
		about.domain = override->domain;
		snprintf(whom, sizeof(whom), "%s", about.domain);
	} else if (target->pid) {
		about.pid = target->pid;
		about.comm = override->comm;
		snprintf(whom, sizeof(whom), "pid %u (%s)", about.pid, about.comm);
	} else {
		snprintf(whom, sizeof(whom), "[rule %s]", target->rule);
	}
	journal_report(overrides->core, MESSAGE_OVERRIDE, &about, "%s: override %u %s%s", whom,
		       target->id, what, why);
}

/* Resumes those of a predecessor that have not ended. Failures are logged and stop nothing. */
static int start(void *state)
{
	struct overrides *overrides = state;
	const char *run_dir = overrides->core->options->run_dir;
	int r = overrides_load(overrides, run_dir, time_now_ns());

	if (r < 0)
		log_warning("overrides of the former wakegovd are dropped: cannot use "
			    "%s/" OVERRIDE_FILE ": %s; give them again",
			    run_dir, statefile_refusal(r) ?: strerror(-r));
	overrides->started = true;
	if (!overrides->n)
		return 0;
	apply(overrides, true);
	log_info("%u override%s of the former wakegovd still hold%s", overrides->n,
		 overrides->n == 1 ? "" : "s", overrides->n == 1 ? "s" : "");
	return 0;
}

static void free_overrides(void *state)
{
	struct overrides *overrides = state;

	if (overrides->started)
		save(overrides);
	overrides_clear(overrides);
}

static void task_seen(void *state, const struct task_facts *facts)
{
	overrides_end_task(state, facts->pid, facts->start_ns);
}

static void task_ended(void *state, uint32_t pid)
{
	overrides_end_task(state, pid, 0);
}

/* With a full table a task that is not in it may still exist. */
static void scan_ended(void *state, enum scan_end end)
{
	struct overrides *overrides = state;
	const struct rules *rules = overrides->core->rules;

	if (end != SCAN_DONE || pid_index_count(rules->index) == pid_index_size(rules->index))
		return;
	overrides_each(overrides, override) {
		if (override->target.pid && !override->ended &&
		    !rules_find(rules, override->target.pid))
			override->ended = OVERRIDE_TASK_GONE;
	}
}

/* Removes and reports those that are over. */
static void expire(void *state, uint64_t now_ns)
{
	struct overrides *overrides = state;
	bool any = false, of_tasks = false;

	for (uint32_t i = overrides->n; i-- > 0;) {
		struct override *override = &overrides->entries[i];

		if (!override->ended && now_ns < override->end_ns)
			continue;
		any = true;
		of_tasks |= !override->domain[0];
		report(overrides, override, "ended: ", override->ended ?: "its time is over");
		overrides_remove(overrides, override);
	}
	if (any)
		changed(overrides, of_tasks);
}

static uint64_t next_ns(void *state, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;

	overrides_each((struct overrides *)state, override) {
		if (override->ended)
			return now_ns;
		if (override->end_ns < next_ns)
			next_ns = override->end_ns;
	}
	return next_ns;
}

/* Completes the task, or checks the rule. */
static int find_target(struct core *core, struct override *override)
{
	struct policy_override *target = &override->target;
	struct task_facts facts;
	int r;

	if (!target->pid)
		return rule_named(&core->policy, target->rule) < 0 ? -ENOENT : 0;
	r = tracer_find_task(core->tracer, target->pid, &facts);
	if (r < 0)
		return r;
	target->start_ns = facts.start_ns;
	memcpy(override->comm, facts.comm, sizeof(facts.comm));
	return 0;
}

int overrides_add(struct overrides *overrides, struct override *override, uint64_t for_us)
{
	struct policy *policy = &overrides->core->policy;
	bool of_domain = override->domain[0];
	struct override *at = &overrides->entries[overrides->n];
	char what[64];
	int r = of_domain ? 0 : find_target(overrides->core, override);

	if (r == 0 && (overrides->n == POLICY_OVERRIDES_MAX ||
		       (!of_domain && policy->n_overrides == overrides_room(policy, false))))
		r = -ENOSPC;
	if (r < 0) {
		json_decref(override->settings);
		return r;
	}
	/* Above all that are in force. */
	override->target.id = overrides->n ? at[-1].target.id + 1 : 1;
	override->end_ns = time_now_ns() + for_us * NS_PER_US;
	*at = *override;
	overrides->n++;
	changed(overrides, !of_domain);
	snprintf(what, sizeof(what), "by user %u for %.1f s", override->uid, (double)for_us / 1e6);
	report(overrides, override, what, "");
	return 0;
}

int overrides_cancel(struct overrides *overrides, uint32_t id)
{
	struct override *override = overrides_find(overrides, id);
	bool of_tasks = override && !override->domain[0];

	if (!override)
		return -ENOENT;
	report(overrides, override, "was cancelled", "");
	overrides_remove(overrides, override);
	changed(overrides, of_tasks);
	return 0;
}

const struct module overrides_module = {
	.name = "overrides",
	.start = start,
	.free = free_overrides,
	.add_rules = overrides_fill,
	.task_seen = task_seen,
	.task_ended = task_ended,
	.scan_ended = scan_ended,
	.expire = expire,
	.next_ns = next_ns,
};
