// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clamps of tasks where the kernel's governor drives. Its row also sends the clamp classes to the
 * kernel side, before the tasks that have them.
 */
#include "daemon/modules/modules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/rule.h"
#include "daemon/journal.h"
#include "daemon/loop.h"
#include "daemon/rule_tracking.h"
#include "shared/log.h"
#include "shared/time.h"
#include "wakegov/abi.h"

/*
 * Reports a refusal once per task, see uclamps_set(), with the rule of the clamp; of a rule's
 * kernel threads the first alone: one for all of root's tasks has a thread on each CPU that takes
 * no clamps (migration/N). A neighbour's cap and a chain's minimum have no rule, and their refusal
 * breaks none.
 */
static void warn_of_refusal(struct clamps *clamps, const struct task_clamp *clamp, int error)
{
	const struct policy *policy = &clamps->core->policy;
	int32_t index = clamp->max_rule >= 0 ? clamp->max_rule : clamp->min_rule;
	char by[POLICY_FILE_SIZE + POLICY_NAME_SIZE + 32] = "";
	const struct policy_rule *rule;
	struct task_facts facts;

	if (clamp->max_why == CLAMP_NEIGHBOUR || clamp->min_why == CLAMP_CHAIN ||
	    clamp->min_why == CLAMP_WAITED)
		return;
	if (rule_exists(policy, index)) {
		if (tracer_find_task(clamps->core->tracer, clamp->pid, &facts) == 0 &&
		    facts.kernel_thread) {
			if (clamps->refused_rules & 1ULL << index)
				return;
			clamps->refused_rules |= 1ULL << index;
		}
		rule = &policy->rules[index];
		snprintf(by, sizeof(by), "%s:%u: [rule %s]: ", rule->file, rule->line, rule->name);
	}
	log_warning("%stask %u cannot be clamped: %s; it is left as it is%s", by, clamp->pid,
		    strerror(-error),
		    error == -EPERM ? " (CAP_SYS_NICE is needed for other users' tasks)" : "");
}

static void rules_changed(void *state)
{
	((struct clamps *)state)->refused_rules = 0;
}

static void apply_clamp(struct clamps *clamps, struct task_clamp *clamp, uint64_t now_ns)
{
	struct core *core = clamps->core;
	struct uclamp ours;
	int r;

	/* Children that inherit now get these values, so remember them as ours. */
	rule_tracking_report_children(core, clamp->pid);
	ours = uclamp_less_margin((struct uclamp){ clamp->min_cap, clamp->max_cap },
				  tracer_clamps_last(core->tracer));
	r = uclamps_set(clamps->tasks, clamp->pid, ours, now_ns);
	if (r < 0)
		warn_of_refusal(clamps, clamp, r);
	log_debug("task %u: clamps %u-%u (%s, %s): %d", clamp->pid, clamp->min_cap, clamp->max_cap,
		  clamp_why_names[clamp->min_why], clamp_why_names[clamp->max_why], r);
}

#define INSIST_NS NS_PER_S

/*
 * A task that sets its clamps above its cap twice within this time will do it again, and would run
 * without the cap until it is written again.
 */
static void report_escapes(struct clamps *clamps, uint64_t now_ns)
{
	const struct uclamps *tasks = clamps->tasks;

	if (tasks->escapes == clamps->n_escapes)
		return;
	if (!clamps->n_escapes)
		log_notice("task %u set its clamps above its cap: the lower one holds, now and "
			   "whenever a task does so; wakegovctl status counts it",
			   tasks->escaped);
	if (clamps->n_escapes && now_ns < clamps->escaped_ns + INSIST_NS)
		clamps->core->insists_until_ns = now_ns + INSIST_NS;
	clamps->n_escapes = tasks->escapes;
	clamps->escaped_ns = now_ns;
}

/*
 * The tasks of one round: a task takes 0.1 ms in the lab, and all else waits. With twice as many, a
 * decision that comes when a rule has got thousands of tasks is twice as late.
 */
#define APPLY_MAX 64

/* Applies changed clamps to tasks, and restores those of their children. */
static void apply_changed(struct clamps *clamps, uint64_t now_ns)
{
	struct task_clamp clamp;
	uint32_t n = 0;

	while (n < APPLY_MAX && engine_pop_clamp(clamps->core->engine, &clamp)) {
		apply_clamp(clamps, &clamp, now_ns);
		n++;
	}
	if (now_ns >= clamps->tasks->next_ns)
		rule_tracking_report_children(clamps->core, 0);
	clamps->goes_on = n == APPLY_MAX;
	/* Children that are to be capped may be among the others. */
	if (!clamps->goes_on)
		uclamps_flush(clamps->tasks, now_ns);
	report_escapes(clamps, now_ns);
}

/*
 * Reads own clamps from the kernel side, except for a task with our clamps: there they hide its
 * own.
 */
static void on_own(struct clamps *clamps, uint32_t pid, uint32_t own, bool ended, uint64_t now_ns)
{
	struct core *core = clamps->core;
	struct input input = {
		.now_ns = now_ns,
		.type = INPUT_OWN_CLAMPS,
		.own_clamps = { .pid = pid, .own = own },
	};
	struct uclamp before, merged;

	if (!ended)
		uclamps_check(clamps->tasks, pid, now_ns);
	if (!ended && uclamps_find(clamps->tasks, pid, &before, &merged))
		input.own_clamps.own = wakegov_own(before.min_cap, before.max_cap);
	if (ended || engine_needs_own_clamps(core->engine))
		engine_apply(core->engine, &input);
}

/* Checks the clamps of every task: records of changes were lost. */
static void check_all(struct clamps *clamps, uint64_t now_ns)
{
	struct core *core = clamps->core;
	const struct task_table *tasks = engine_tasks(core->engine);
	const struct task *task = NULL;
	struct uclamp now;
	struct input beside = { .now_ns = now_ns, .type = INPUT_CO_RUNNER };
	struct input waited = { .now_ns = now_ns, .type = INPUT_WAITED };

	uclamps_check_all(clamps->tasks, now_ns);
	while ((task = task_next(tasks, task))) {
		if (!(task->own || task->co_runner_class || task->waited) ||
		    uclamp_read(task->pid, &now) != -ESRCH)
			continue;
		beside.co_runner.pid = task->pid;
		engine_apply(core->engine, &beside);
		waited.waited.pid = task->pid;
		engine_apply(core->engine, &waited);
		on_own(clamps, task->pid, 0, true, now_ns);
	}
}

static void describe_classes(struct clamps *clamps)
{
	struct core *core = clamps->core;
	const struct clamp_classes *classes = engine_clamp_classes(core->engine);
	struct tracer_classes sent = {
		.n = classes->n,
		.co_runners = engine_clamps_tasks(core->engine),
		.burst_limit_ns = core->policy.caps.burst_limit_ns,
	};

	if (classes->epoch != core->classes_epoch)
		tracer_forget_classes(core->tracer);
	for (uint32_t class = 0; class < classes->n; class ++) {
		struct class_clamp clamp;

		engine_clamp_of_class(core->engine, class, &clamp);
		sent.cap[class] = clamp.cap < CLAMP_MAX_NONE ? clamp.cap : CLAMP_MAX_NONE;
		if (clamp.floor)
			sent.floored |= 1ULL << class;
		if (clamp.response_us)
			sent.timed |= 1ULL << class;
	}
	tracer_set_classes(core->tracer, &sent);
	core->classes_epoch = classes->epoch;
	clamps->classes_version = classes->version;
}

/* Sends changed clamp classes to the kernel side, before the tasks that have them. */
static void send_classes(struct clamps *clamps)
{
	struct core *core = clamps->core;
	struct task_class class;
	bool any = false;
	int r = 0;

	if (engine_clamp_classes(core->engine)->version != clamps->classes_version)
		describe_classes(clamps);
	while (engine_pop_class(core->engine, &class)) {
		r = tracer_set_task_class(core->tracer, &class) ?: r;
		any = true;
	}
	if (any)
		tracer_apply_task_classes(core->tracer);
	if (r < 0)
		log_debug("cannot send the clamp class of each task: %s", strerror(-r));
}

static void run(void *state, uint64_t now_ns)
{
	struct clamps *clamps = state;

	send_classes(clamps);
	apply_changed(clamps, now_ns);
}

static uint64_t next_ns(void *state, uint64_t now_ns)
{
	const struct clamps *clamps = state;

	return clamps->goes_on ? now_ns : clamps->tasks->next_ns;
}

static void on_event(void *state, const struct wakegov_record *record, uint64_t now_ns)
{
	struct clamps *clamps = state;
	int r = 0;

	if (record->type == WAKEGOV_RECORD_CHILD)
		r = uclamps_forked(clamps->tasks, record->parent, record->pid);
	else if (record->type == WAKEGOV_RECORD_OWN)
		on_own(clamps, record->pid, record->own, record->ended, now_ns);
	if (r < 0)
		log_debug("task %u keeps the clamps that it inherited: %s", record->pid,
			  strerror(-r));
}

static void scan_ended(void *state, enum scan_end end)
{
	struct clamps *clamps = state;

	if (end != SCAN_NOT_NEEDED)
		check_all(clamps, clamps->core->tracking.scanned_ns);
}

/*
 * By the counted exits (tracer_task_lives()), also of a task that matches no rule any more. An exit
 * that was missed was not counted: the mark has how many records were lost until then.
 */
static bool lives(void *userdata, struct known_task *known)
{
	const struct core *core = userdata;
	const struct rules_task *task = rules_find(core->rules, known->pid);

	if (task) {
		/* The start time as /proc has it. */
		known->start = task->start_ns / (NS_PER_S / sysconf(_SC_CLK_TCK));
		known->mark = core->tracking.scan_lost << 32 | task->ends;
	}
	return (uint32_t)tracer_lost_changes(core->tracer) == known->mark >> 32 &&
	       tracer_task_lives(core->tracer, known->pid, (uint32_t)known->mark);
}

static int start(void *state)
{
	struct clamps *clamps = state;

	clamps->tasks = uclamps_new(clamps->core->options->run_dir, lives, clamps->core);
	return clamps->tasks ? 0 : -ENOMEM;
}

static void released(void *state)
{
	struct clamps *clamps = state;
	const char *run_dir = clamps->core->options->run_dir;

	if (!clamps->tasks)
		return;
	/* A parent in a record can have ended as well. */
	tracer_consume(clamps->core->tracer, inputs_on_event, clamps->core);
	rule_tracking_report_children(clamps->core, 0);
	journal_log_left(uclamps_release(clamps->tasks, journal_report_restore, NULL),
			 "the clamps of tasks", run_dir, "clamps");
}

static void free_tables(void *state)
{
	uclamps_free(((struct clamps *)state)->tasks);
}

const struct module clamps_module = {
	.name = "clamps",
	.start = start,
	.released = released,
	.free = free_tables,
	.rules_changed = rules_changed,
	.scan_ended = scan_ended,
	.on_event = on_event,
	.run = run,
	.next_ns = next_ns,
};
