// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/modules/idle_latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/power_controls.h"
#include "core/pid_index.h"
#include "core/rule.h"
#include "daemon/journal.h"
#include "shared/log.h"
#include "shared/sysfs.h"
#include "shared/time.h"
#include "tracer/idle_latency.h"

#define NONE POLICY_IDLE_LATENCY_NONE

/* A CPU keeps its limit for at least this time after the last such task ran there. */
#define LOOK_NS (100 * NS_PER_MS)
/* While looks change nothing they become rarer, so that steady tasks wake the daemon rarely. */
#define LOOK_MOST_NS (1600 * NS_PER_MS)

const char *idle_latency_why_not(const struct idle_latency *idle)
{
	char driver[32];

	if (!idle->wanted)
		return NULL;
	if (idle->core->policy.backend == POLICY_BACKEND_OBSERVE)
		return "wakegov only observes";
	if (idle->missing)
		return "the kernel has no pm_qos_resume_latency_us of CPUs (CONFIG_PM)";
	if (!sysfs_read_line(driver, sizeof(driver), CONTROL_CPUS "/cpuidle/current_driver") ||
	    !strcmp(driver, "none"))
		return "the kernel has no idle states to choose from (no cpuidle driver)";
	return NULL;
}

/* pid is whose limit it is, and may have ended. */
static void set_limit(struct idle_latency *idle, uint32_t cpu, uint32_t us, uint32_t pid)
{
	struct core *core = idle->core;
	struct limited_cpu *limited = &idle->cpus[cpu];
	int r = RESUME_LATENCY_DONE;

	if (us != NONE)
		r = resume_latency_limit(core->saved, cpu, us);
	else if (restore_resume_latency(core->saved, cpu) == RESTORE_TAKEN_OVER)
		r = RESUME_LATENCY_FOREIGN;
	if (r == RESUME_LATENCY_FOREIGN)
		log_notice(
			"CPU %u: another program set its pm_qos_resume_latency_us; wakegov leaves "
			"it alone until: wakegovctl reload",
			cpu);
	else if (r < 0 && !idle->failed)
		log_warning("CPU %u: cannot limit its idle states: %s; it, and others like it, "
			    "are left as they are",
			    cpu, strerror(-r));
	idle->failed |= r < 0;
	if (r < 0 || r == RESUME_LATENCY_FOREIGN) {
		limited->given_up = true;
		us = NONE;
	}
	if (us != limited->us)
		log_debug("CPU %u: idle latency %d us, for pid %u", cpu, (int)us, pid);
	idle->n_limited += (us != NONE) - (limited->us != NONE);
	limited->us = us;
	tracer_set_idle_limit(core->tracer, cpu, limited->given_up ? 0 : us);
}

static void look_by(struct idle_latency *idle, uint64_t at_ns)
{
	idle->gap_ns = LOOK_NS;
	if (at_ns < idle->next_ns)
		idle->next_ns = at_ns;
}

static void on_event(void *state, const struct wakegov_record *record, uint64_t now_ns)
{
	struct idle_latency *idle = state;
	struct core *core = idle->core;
	uint32_t cpu = record->cpu, us, pid;

	if (record->type != WAKEGOV_RECORD_IDLE_LATENCY || cpu >= core->topology->n_cpus ||
	    idle->cpus[cpu].given_up)
		return;
	if (core->handed_back_until_ns) {
		/* The next such task is reported again. */
		tracer_set_idle_limit(core->tracer, cpu, NONE);
		return;
	}
	us = tracer_pop_idle_latency(core->tracer, cpu, &pid);
	if (us >= idle->cpus[cpu].us)
		return;
	if (!idle->n_limited)
		idle->next_ns = UINT64_MAX;
	set_limit(idle, cpu, us, pid);
	look_by(idle, now_ns + LOOK_NS);
}

/* Without tasks, or while the domains are handed back, no CPU is limited. */
static void look(struct idle_latency *idle, uint64_t now_ns)
{
	struct core *core = idle->core;
	bool may_limit = !core->handed_back_until_ns && pid_index_count(idle->index);
	bool changed = false;

	if (!idle->n_limited || (may_limit && now_ns < idle->next_ns))
		return;
	for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++) {
		uint32_t before_us = idle->cpus[cpu].us, us = NONE, pid = 0;

		if (before_us == NONE)
			continue;
		if (may_limit)
			us = tracer_pop_idle_latency(core->tracer, cpu, &pid);
		set_limit(idle, cpu, us, pid);
		changed |= idle->cpus[cpu].us != before_us;
	}
	if (changed)
		saved_save(core->saved); /* what cannot be is tried again by the next one */
	idle->gap_ns = changed ? LOOK_NS : 2 * idle->gap_ns;
	if (idle->gap_ns > LOOK_MOST_NS)
		idle->gap_ns = LOOK_MOST_NS;
	idle->next_ns = now_ns + idle->gap_ns;
}

static uint64_t next_ns(void *state, uint64_t now_ns, uint64_t others_ns)
{
	const struct idle_latency *idle = state;

	return idle->n_limited ? idle->next_ns : UINT64_MAX;
}

static void set_task(struct idle_latency *idle, uint32_t pid, uint32_t us)
{
	struct core *core = idle->core;
	uint32_t place = pid_index_find(idle->index, pid);

	if (us == (place == PID_INDEX_NONE ? NONE : idle->tasks[place].us))
		return;
	if (place == PID_INDEX_NONE)
		place = pid_index_add(idle->index, pid);
	if (place == PID_INDEX_NONE)
		return;
	idle->tasks[place] = (struct limiting_task){ pid, us };
	tracer_set_idle_latency(core->tracer, pid, us);
	if (us == NONE)
		pid_index_remove(idle->index, place);
	tracer_follow_idle_latencies(core->tracer, pid_index_count(idle->index));
	look_by(idle, time_now_ns() + LOOK_NS);
}

/* A rule wins over the I/O boost, also a rule that says "none". */
static void update_task(void *state, uint32_t pid)
{
	struct idle_latency *idle = state;
	struct core *core = idle->core;
	const struct io_task *task = io_task_find(engine_tasks(core->engine), pid);
	const struct rules_task *ruled = rules_find(core->rules, pid);
	uint32_t us = NONE;
	int rule = -1;

	if (ruled)
		rule = rule_that_gives_anywhere(&core->policy, ruled->matched, RULE_IDLE_LATENCY);
	if (rule >= 0)
		us = core->policy.rules[rule].properties.idle_latency.value;
	else if (task && task->io_boost.limits_idle)
		us = core->policy.io_boost.idle_latency_us;
	if (idle->missing || core->policy.backend == POLICY_BACKEND_OBSERVE)
		us = NONE;
	set_task(idle, pid, us);
}

/*
 * A boost that no longer asks for it frees the CPUs at once, so that the window of the experiment
 * without it is one. The kernel side forgets which tasks ran there so far, and reports the
 * next one that asks for a limit.
 */
static void follow_boosts(struct idle_latency *idle, uint64_t now_ns)
{
	struct core *core = idle->core;
	const struct io_task *task = NULL;
	uint32_t place = 0, pid;

	if (idle->boost_changes == engine_idle_changes(core->engine))
		return;
	idle->boost_changes = engine_idle_changes(core->engine);
	while ((place = pid_index_next(idle->index, place)) != PID_INDEX_NONE)
		update_task(idle, idle->tasks[place++].pid);
	while ((task = io_task_next(engine_tasks(core->engine), task)))
		update_task(idle, task->pid);
	for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++)
		if (idle->cpus[cpu].us != NONE)
			tracer_pop_idle_latency(core->tracer, cpu, &pid);
	idle->next_ns = now_ns;
}

static void run(void *state, uint64_t now_ns)
{
	follow_boosts(state, now_ns);
	look(state, now_ns);
}

static void task_seen(void *state, const struct task_facts *facts)
{
	update_task(state, facts->pid);
}

static void task_ended(void *state, uint32_t pid)
{
	set_task(state, pid, NONE);
}

/* Warns once: a machine that cannot do it cannot with the next policy either. */
static void rules_changed(void *state)
{
	struct idle_latency *idle = state;
	struct core *core = idle->core;
	const char *why;

	idle->wanted = rule_any_gives(&core->policy, RULE_IDLE_LATENCY) ||
		       core->policy.io_boost.idle_latency_us != NONE;
	why = idle_latency_why_not(idle);
	if (!why || idle->warned)
		return;
	log_warning("idle-latency does nothing here: %s", why);
	idle->warned = true;
}

/* CPUs that were left to another program are limited again. */
static void reloaded(void *state)
{
	struct idle_latency *idle = state;
	struct core *core = idle->core;

	idle->failed = false;
	for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++) {
		if (idle->cpus[cpu].given_up)
			tracer_set_idle_limit(core->tracer, cpu, NONE);
		idle->cpus[cpu].given_up = false;
	}
}

static int start(void *state)
{
	struct idle_latency *idle = state;
	struct core *core = idle->core;
	char value[CONTROL_VALUE_SIZE];

	idle->missing = control_load(CONTROL_RESUME_LATENCY, 0, value, sizeof(value)) == -ENOENT;
	idle->next_ns = UINT64_MAX;
	idle->index = pid_index_new(core->policy.max_ruled_tasks);
	idle->tasks = calloc(core->policy.max_ruled_tasks, sizeof(*idle->tasks));
	idle->cpus = calloc(core->topology->n_cpus, sizeof(*idle->cpus));
	if (!idle->index || !idle->tasks || !idle->cpus)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++)
		idle->cpus[cpu].us = NONE;
	return 0;
}

/* Restores the limit that each CPU had before. */
static void released(void *state)
{
	struct idle_latency *idle = state;
	struct core *core = idle->core;
	int r;

	if (!idle->cpus)
		return;
	r = restore_resume_latencies(core->saved, journal_report_restore, NULL);
	journal_log_left(r, "the limits of idle states", core->options->run_dir, SAVED_FILE);
}

static void free_tables(void *state)
{
	struct idle_latency *idle = state;

	pid_index_free(idle->index);
	free(idle->tasks);
	free(idle->cpus);
}

/* By the latency itself, as the task that limited the CPU may have ended. */
void idle_latency_cpus(const struct idle_latency *idle, int rule, struct cpu_mask *ret)
{
	struct core *core = idle->core;
	bool any = rule == IDLE_LATENCY_ANY_RULE;
	const struct policy_level *level =
		&core->policy.rules[any ? 0 : rule].properties.idle_latency;

	*ret = (struct cpu_mask){ 0 };
	for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++) {
		uint32_t us = idle->cpus[cpu].us;

		if (us != NONE &&
		    (any || (level->kind == POLICY_LEVEL_IDLE_LATENCY && level->value == us)))
			cpu_mask_add(ret, cpu);
	}
}

void idle_latency_given_up(const struct idle_latency *idle, struct cpu_mask *ret)
{
	*ret = (struct cpu_mask){ 0 };
	for (uint32_t cpu = 0; cpu < idle->core->topology->n_cpus; cpu++)
		if (idle->cpus[cpu].given_up)
			cpu_mask_add(ret, cpu);
}

const struct module idle_latency_module = {
	.name = "idle latency",
	.start = start,
	.released = released,
	.free = free_tables,
	.rules_changed = rules_changed,
	.reloaded = reloaded,
	.task_seen = task_seen,
	.task_rehinted = update_task,
	.task_ended = task_ended,
	.on_event = on_event,
	.run = run,
	.next_ns = next_ns,
};
