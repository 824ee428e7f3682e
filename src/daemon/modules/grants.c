// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is given for a while, overrides and hints, and its end: by time, with its task, or with the
 * connection.
 */
#include "daemon/modules/grants.h"

#include <string.h>

#include "shared/log.h"
#include "shared/statefile.h"
#include "shared/time.h"

static void add_rules(void *state, struct policy *policy)
{
	struct grants *grants = state;

	overrides_check(&grants->overrides, policy);
	overrides_fill(&grants->overrides, policy);
	hints_fill(rules_hints(grants->core->rules), policy);
}

static void log_resumed(uint32_t n, const char *what)
{
	if (n)
		log_info("%u %s%s of the former wakegovd still hold%s", n, what, n == 1 ? "" : "s",
			 n == 1 ? "s" : "");
}

/* Resumes the grants of a predecessor that have not ended. Failures are logged and stop nothing. */
static int start(void *state)
{
	struct grants *grants = state;
	struct core *core = grants->core;
	const struct grant_tables tables = grants_tables(grants);
	uint64_t now_ns = time_now_ns();
	int r = grant_file_load(core->options->run_dir, now_ns, &tables);

	if (r < 0)
		log_warning("overrides and hints of the former wakegovd are dropped: cannot use "
			    "%s/" GRANT_FILE ": %s; give them again",
			    core->options->run_dir, statefile_refusal(r) ?: strerror(-r));
	grants->save_ns = UINT64_MAX;
	overrides_check(&grants->overrides, &core->policy);
	overrides_resume(grants);
	hinting_apply(grants);
	hinting_end_over(grants, now_ns);
	grants->started = true;
	log_resumed(grants->overrides.n, "override");
	log_resumed(hints_count(rules_hints(core->rules)), "hint");
	return 0;
}

/* Saves them at the end, as the heirs of hints are known now. */
static void free_grants(void *state)
{
	struct grants *grants = state;

	if (grants->started)
		grants_save(grants);
	hinting_free_unsubscribed(grants);
}

static void task_seen(void *state, const struct task_facts *facts)
{
	struct grants *grants = state;

	overrides_end_task(&grants->overrides, facts->pid, facts->start_ns);
}

static void task_ended(void *state, uint32_t pid)
{
	struct grants *grants = state;

	overrides_end_task(&grants->overrides, pid, 0);
}

/* With a full table a task that is not in it may still exist. */
static void scan_ended(void *state, enum scan_end end)
{
	struct grants *grants = state;
	const struct rules *rules = grants->core->rules;

	if (end != SCAN_DONE || rules_are_full(rules))
		return;
	overrides_each(&grants->overrides, override) {
		if (override->target.pid && !override->ended &&
		    !rules_find(rules, override->target.pid))
			override->ended = OVERRIDE_TASK_GONE;
	}
}

static void expire(void *state, uint64_t now_ns)
{
	struct grants *grants = state;

	overrides_end_over(grants, now_ns);
	hinting_free_unsubscribed(grants);
	if (now_ns >= grants->hints_end_ns || rules_hints(grants->core->rules)->has_unused)
		hinting_end_over(grants, now_ns);
	if (now_ns >= grants->save_ns)
		grants_save(grants);
}

/* At once, where hints may have lost their last task. */
static uint64_t next_ns(void *state, uint64_t now_ns, uint64_t others_ns)
{
	struct grants *grants = state;
	uint64_t next_ns = overrides_next_ns(&grants->overrides);

	if (rules_hints(grants->core->rules)->has_unused)
		return now_ns;
	if (grants->hints_end_ns < next_ns)
		next_ns = grants->hints_end_ns;
	return grants->save_ns < next_ns ? grants->save_ns : next_ns;
}

const struct module grants_module = {
	.name = "grants",
	.start = start,
	.free = free_grants,
	.add_rules = add_rules,
	.task_seen = task_seen,
	.task_ended = task_ended,
	.scan_ended = scan_ended,
	.expire = expire,
	.next_ns = next_ns,
};
