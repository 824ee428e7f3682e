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

struct limited_cpu {
	uint32_t us;   /* NONE: it is not */
	bool given_up; /* another program changed it, or it cannot be written */
};

struct limiting_task {
	uint32_t pid;
	uint32_t us;
};

struct idle_latency {
	bool wanted;  /* a rule gives one, or the I/O boost asks for one */
	bool missing; /* this kernel has no such file */
	bool warned;  /* the warning that it has no effect here was given */
	bool failed;  /* a warning said that a write failed */
	struct pid_index *index;
	struct limiting_task *tasks; /* by place in the index */
	struct limited_cpu *cpus;
	uint32_t n_limited;
	uint32_t boost_changes; /* of engine_idle_changes(), that are seen */
	uint64_t next_ns;
	uint64_t gap_ns;
};

const char *idle_latency_why_not(const struct manager *manager)
{
	char driver[32];

	if (!manager->idle_latency->wanted)
		return NULL;
	if (manager->policy.backend == POLICY_BACKEND_OBSERVE)
		return "wakegov only observes";
	if (manager->idle_latency->missing)
		return "the kernel has no pm_qos_resume_latency_us of CPUs (CONFIG_PM)";
	if (!sysfs_read_line(driver, sizeof(driver), CONTROL_CPUS "/cpuidle/current_driver") ||
	    !strcmp(driver, "none"))
		return "the kernel has no idle states to choose from (no cpuidle driver)";
	return NULL;
}

/* pid is whose limit it is, and may have ended. */
static void set_limit(struct manager *manager, uint32_t cpu, uint32_t us, uint32_t pid)
{
	struct idle_latency *idle = manager->idle_latency;
	struct limited_cpu *limited = &idle->cpus[cpu];
	int r = RESUME_LATENCY_DONE;

	if (us != NONE)
		r = resume_latency_limit(manager->saved, cpu, us);
	else if (restore_resume_latency(manager->saved, cpu) == RESTORE_TAKEN_OVER)
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
	tracer_set_idle_limit(manager->tracer, cpu, limited->given_up ? 0 : us);
}

static void look_by(struct idle_latency *idle, uint64_t at_ns)
{
	idle->gap_ns = LOOK_NS;
	if (at_ns < idle->next_ns)
		idle->next_ns = at_ns;
}

void idle_latency_take_event(struct manager *manager, uint32_t cpu, uint64_t now_ns)
{
	struct idle_latency *idle = manager->idle_latency;
	uint32_t us, pid;

	if (cpu >= manager->topology->n_cpus || idle->cpus[cpu].given_up)
		return;
	if (manager->hand_back.until_ns) {
		/* The next such task is reported again. */
		tracer_set_idle_limit(manager->tracer, cpu, NONE);
		return;
	}
	us = tracer_take_idle_latency(manager->tracer, cpu, &pid);
	if (us >= idle->cpus[cpu].us)
		return;
	if (!idle->n_limited)
		idle->next_ns = UINT64_MAX;
	set_limit(manager, cpu, us, pid);
	look_by(idle, now_ns + LOOK_NS);
}

/* Without tasks, or while the domains are handed back, no CPU is limited. */
void idle_latency_look(struct manager *manager, uint64_t now_ns)
{
	struct idle_latency *idle = manager->idle_latency;
	bool may_limit = !manager->hand_back.until_ns && pid_index_count(idle->index);
	bool changed = false;

	if (!idle->n_limited || (may_limit && now_ns < idle->next_ns))
		return;
	for (uint32_t cpu = 0; cpu < manager->topology->n_cpus; cpu++) {
		uint32_t before_us = idle->cpus[cpu].us, us = NONE, pid = 0;

		if (before_us == NONE)
			continue;
		if (may_limit)
			us = tracer_take_idle_latency(manager->tracer, cpu, &pid);
		set_limit(manager, cpu, us, pid);
		changed |= idle->cpus[cpu].us != before_us;
	}
	if (changed)
		saved_save(manager->saved); /* what cannot be is tried again by the next one */
	idle->gap_ns = changed ? LOOK_NS : 2 * idle->gap_ns;
	if (idle->gap_ns > LOOK_MOST_NS)
		idle->gap_ns = LOOK_MOST_NS;
	idle->next_ns = now_ns + idle->gap_ns;
}

uint64_t idle_latency_next_ns(const struct manager *manager)
{
	return manager->idle_latency->n_limited ? manager->idle_latency->next_ns : UINT64_MAX;
}

static void set_task(struct manager *manager, uint32_t pid, uint32_t us)
{
	struct idle_latency *idle = manager->idle_latency;
	uint32_t place = pid_index_find(idle->index, pid);

	if (us == (place == PID_INDEX_NONE ? NONE : idle->tasks[place].us))
		return;
	if (place == PID_INDEX_NONE)
		place = pid_index_add(idle->index, pid);
	if (place == PID_INDEX_NONE)
		return;
	idle->tasks[place] = (struct limiting_task){ pid, us };
	tracer_set_idle_latency(manager->tracer, pid, us);
	if (us == NONE)
		pid_index_remove(idle->index, place);
	tracer_follow_idle_latencies(manager->tracer, pid_index_count(idle->index));
	look_by(idle, time_now_ns() + LOOK_NS);
}

/* A rule wins over the I/O boost, also a rule that says "none". */
void idle_latency_take_task(struct manager *manager, uint32_t pid)
{
	const struct io_task *task = io_task_find(engine_tasks(manager->engine), pid);
	const struct rules_task *ruled = rules_find(manager->rules, pid);
	uint32_t us = NONE;
	int rule = -1;

	if (ruled)
		rule = rule_that_gives_anywhere(&manager->policy, ruled->matched,
						RULE_IDLE_LATENCY);
	if (rule >= 0)
		us = manager->policy.rules[rule].properties.idle_latency.value;
	else if (task && task->io_boost.limits_idle)
		us = manager->policy.io_boost.idle_latency_us;
	if (manager->idle_latency->missing || manager->policy.backend == POLICY_BACKEND_OBSERVE)
		us = NONE;
	set_task(manager, pid, us);
}

/*
 * A boost that no longer asks for it frees the CPUs at once, so that the window of the experiment
 * without it is one. The kernel side forgets which tasks ran there so far, and reports the
 * next one that asks for a limit.
 */
void idle_latency_take_boosts(struct manager *manager, uint64_t now_ns)
{
	struct idle_latency *idle = manager->idle_latency;
	const struct io_task *task = NULL;
	uint32_t place = 0, pid;

	if (idle->boost_changes == engine_idle_changes(manager->engine))
		return;
	idle->boost_changes = engine_idle_changes(manager->engine);
	while ((place = pid_index_next(idle->index, place)) != PID_INDEX_NONE)
		idle_latency_take_task(manager, idle->tasks[place++].pid);
	while ((task = io_task_next(engine_tasks(manager->engine), task)))
		idle_latency_take_task(manager, task->pid);
	for (uint32_t cpu = 0; cpu < manager->topology->n_cpus; cpu++)
		if (idle->cpus[cpu].us != NONE)
			tracer_take_idle_latency(manager->tracer, cpu, &pid);
	idle->next_ns = now_ns;
}

void idle_latency_end_task(struct manager *manager, uint32_t pid)
{
	set_task(manager, pid, NONE);
}

/* Warns once: a machine that cannot do it cannot with the next policy either. */
void idle_latency_set_policy(struct manager *manager)
{
	struct idle_latency *idle = manager->idle_latency;
	const char *why;

	idle->wanted = rule_any_gives(&manager->policy, RULE_IDLE_LATENCY) ||
		       manager->policy.io_boost.idle_latency_us != NONE;
	why = idle_latency_why_not(manager);
	if (!why || idle->warned)
		return;
	log_warning("idle-latency does nothing here: %s", why);
	idle->warned = true;
}

void idle_latency_retry(struct manager *manager)
{
	struct idle_latency *idle = manager->idle_latency;

	idle->failed = false;
	for (uint32_t cpu = 0; cpu < manager->topology->n_cpus; cpu++) {
		if (idle->cpus[cpu].given_up)
			tracer_set_idle_limit(manager->tracer, cpu, NONE);
		idle->cpus[cpu].given_up = false;
	}
}

int idle_latency_start(struct manager *manager)
{
	struct idle_latency *idle = calloc(1, sizeof(*idle));
	char value[CONTROL_VALUE_SIZE];

	if (!idle)
		return -ENOMEM;
	manager->idle_latency = idle;
	idle->missing = control_load(CONTROL_RESUME_LATENCY, 0, value, sizeof(value)) == -ENOENT;
	idle->next_ns = UINT64_MAX;
	idle->index = pid_index_new(manager->policy.max_ruled_tasks);
	idle->tasks = calloc(manager->policy.max_ruled_tasks, sizeof(*idle->tasks));
	idle->cpus = calloc(manager->topology->n_cpus, sizeof(*idle->cpus));
	if (!idle->index || !idle->tasks || !idle->cpus)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < manager->topology->n_cpus; cpu++)
		idle->cpus[cpu].us = NONE;
	return 0;
}

void idle_latency_end(struct manager *manager)
{
	struct idle_latency *idle = manager->idle_latency;
	int r;

	if (!idle)
		return;
	r = restore_resume_latencies(manager->saved, journal_report_restore, NULL);
	journal_log_left(r, "the limits of idle states", manager->options.run_dir, SAVED_FILE);
	pid_index_free(idle->index);
	free(idle->tasks);
	free(idle->cpus);
	free(idle);
	manager->idle_latency = NULL;
}

/* By the latency itself, as the task that limited the CPU may have ended. */
void idle_latency_cpus(const struct manager *manager, int rule, struct cpu_mask *ret)
{
	bool any = rule == IDLE_LATENCY_ANY_RULE;
	const struct policy_level *level =
		&manager->policy.rules[any ? 0 : rule].properties.idle_latency;

	*ret = (struct cpu_mask){ 0 };
	for (uint32_t cpu = 0; cpu < manager->topology->n_cpus; cpu++) {
		uint32_t us = manager->idle_latency->cpus[cpu].us;

		if (us != NONE &&
		    (any || (level->kind == POLICY_LEVEL_IDLE_LATENCY && level->value == us)))
			cpu_mask_add(ret, cpu);
	}
}

uint32_t idle_latency_count(const struct manager *manager)
{
	return manager->idle_latency->n_limited;
}

void idle_latency_given_up(const struct manager *manager, struct cpu_mask *ret)
{
	*ret = (struct cpu_mask){ 0 };
	for (uint32_t cpu = 0; cpu < manager->topology->n_cpus; cpu++)
		if (manager->idle_latency->cpus[cpu].given_up)
			cpu_mask_add(ret, cpu);
}
