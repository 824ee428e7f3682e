// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine's clamps: the class of each task and, where domains are driven by clamps, the clamps
 * of each task.
 *
 *	min = max(its floor, its I/O boost, what its chain needs of a big CPU)
 *	max = min(its cap, the cap that it gets as a co-runner, the need of its domain)
 *
 * and the cap wins where the two cross. The need is the maximum of tasks whose I/O gains nothing
 * from more, as their group's experiment found: without it schedutil boosts every task that waits
 * for I/O. It never lowers a floor.
 */
#include <string.h>

#include "core/engine_state.h"
#include "core/opp.h"
#include "core/rule.h"

/* The clamps of rules; the kernel merges the tasks' own with them. */
static void clamp_by_rules(const struct engine *engine, uint32_t class, struct class_clamp *ret)
{
	clamp_of_rules(&engine->policy, engine->clamp_classes.matched[class],
		       engine->clamp_classes.burst_ns[class], engine->topology, ret);
}

void engine_clamp_of_class(const struct engine *engine, uint32_t class, struct class_clamp *ret)
{
	clamp_by_rules(engine, class, ret);
	clamp_merge_own(engine->clamp_classes.own[class], ret);
}

static void lower_max(struct task_clamp *clamp, uint32_t cap, enum clamp_why why, int32_t rule)
{
	if (cap >= clamp->max_cap)
		return;
	clamp->max_cap = cap;
	clamp->max_why = why;
	clamp->max_rule = rule;
}

static void raise_min(struct task_clamp *clamp, uint32_t cap, enum clamp_why why, int32_t rule)
{
	if (cap <= clamp->min_cap)
		return;
	clamp->min_cap = cap;
	clamp->min_why = why;
	clamp->min_rule = rule;
}

uint32_t clamping_most_waiting(const struct engine *engine, const struct task *task,
			       const struct topology_domain *info)
{
	int rule = rule_that_gives(&engine->policy, task ? task->matched : 0, RULE_WAITING, info);

	if (rule < 0)
		return TOPOLOGY_CAPACITY_MAX;
	return rule_level_cap(&engine->policy.rules[rule].properties.waiting, info);
}

/* The least that its pieces get in any domain: a clamp holds on the whole machine. */
static uint32_t waited_cap(const struct engine *engine, const struct task *task)
{
	uint32_t least = TOPOLOGY_CAPACITY_MAX;

	if (!engine->policy.chains || !engine->policy.waiting_uw)
		return 0;
	for (uint32_t i = 0; i < engine->topology->n_domains; i++) {
		const struct topology_domain *info = &engine->domains[i].info;
		uint32_t most = clamping_most_waiting(engine, task, info),
			 cap = opp_cap_at_khz(info,
					      opp_worth_waiting(info, engine->policy.waiting_uw));

		cap = cap < most ? cap : most;
		if (engine->domains[i].active && cap < least)
			least = cap;
	}
	return least;
}

void engine_clamp_of_task(const struct engine *engine, const struct task *task,
			  struct task_clamp *ret)
{
	struct class_clamp own, beside;

	*ret = (struct task_clamp){
		.pid = task->pid,
		.min_cap = CLAMP_MIN_NONE,
		.max_cap = CLAMP_MAX_NONE,
		.min_rule = -1,
		.max_rule = -1,
	};
	if (!engine->n_clamping)
		return;
	clamp_by_rules(engine, task->class, &own);
	raise_min(ret, own.floor, CLAMP_RULE, own.floor_rule);
	raise_min(ret, task->boost_cap, CLAMP_BOOST, -1);
	raise_min(ret, task->chain_cap, CLAMP_CHAIN, -1);
	lower_max(ret, own.cap, CLAMP_RULE, own.cap_rule);
	if (task->co_runner_class && !task->does_io && !ret->min_cap) {
		clamp_by_rules(engine, task->co_runner_class, &beside);
		lower_max(ret, beside.cap, CLAMP_NEIGHBOUR, beside.cap_rule);
	}
	if (task->waited)
		raise_min(ret, waited_cap(engine, task), CLAMP_WAITED, -1);
	if (ret->min_cap > ret->max_cap)
		ret->min_cap = ret->max_cap;
	if (task->need_cap)
		lower_max(ret, task->need_cap > ret->min_cap ? task->need_cap : ret->min_cap,
			  CLAMP_NEED, -1);
}

static bool pop_clamp(struct engine *engine, struct task_clamp *ret)
{
	struct task *task;

	while ((task = task_pop_waiting(engine->tasks, TASK_WAIT_CLAMP))) {
		bool changed;

		engine_clamp_of_task(engine, task, ret);
		changed = ret->min_cap != task->given_min_cap ||
			  ret->max_cap != task->given_max_cap;
		task->given_min_cap = ret->min_cap;
		task->given_max_cap = ret->max_cap;
		task_settle(engine->tasks, task);
		if (changed)
			return true;
	}
	return false;
}

/* A waiting task that is unchanged is taken out too: the tap reports that, for replays. */
bool engine_pop_clamp(struct engine *engine, struct task_clamp *ret)
{
	bool waited = task_any_waits(engine->tasks, TASK_WAIT_CLAMP);
	bool taken = pop_clamp(engine, ret);

	if (waited)
		engine_tap_call(engine, &(struct engine_call){ .type = ENGINE_POP_CLAMP,
							       .clamp = taken ? ret : NULL });
	return taken;
}

static bool pop_class(struct engine *engine, struct task_class *ret)
{
	struct task *task;

	while ((task = task_pop_waiting(engine->tasks, TASK_WAIT_CLASS))) {
		bool changed = task->class != task->sent_class;

		*ret = (struct task_class){
			.pid = task->pid,
			.class = task->class,
			.before = task->sent_class,
		};
		task->sent_class = task->class;
		task_settle(engine->tasks, task);
		if (changed)
			return true;
	}
	return false;
}

bool engine_pop_class(struct engine *engine, struct task_class *ret)
{
	bool waited = task_any_waits(engine->tasks, TASK_WAIT_CLASS);
	bool taken = pop_class(engine, ret);

	if (waited)
		engine_tap_call(engine, &(struct engine_call){ .type = ENGINE_POP_CLASS,
							       .class = taken ? ret : NULL });
	return taken;
}

static void queue_all(struct engine *engine)
{
	struct task *task = NULL;

	while ((task = task_next(engine->tasks, task)))
		if (task->clamped)
			task_queue(engine->tasks, task, TASK_WAIT_CLAMP);
}

/* Makes every domain watch for the tasks of a new class. */
static uint32_t find_or_add_class(struct engine *engine, uint64_t matched, uint32_t own)
{
	uint32_t before = engine->clamp_classes.n,
		 class = clamp_classes_find_or_add(&engine->clamp_classes, matched, own);

	for (uint32_t i = 0; engine->clamp_classes.n != before && i < engine->topology->n_domains;
	     i++)
		engine_mark_domain(engine, i);
	return class;
}

void clamping_rule_task(struct engine *engine, struct task *task)
{
	uint32_t class = find_or_add_class(engine, task->matched, task->own);

	if (class == task->class && class == task->sent_class)
		return;
	task->class = class;
	task_clamp(engine->tasks, task->pid);
	task_queue(engine->tasks, task, TASK_WAIT_CLASS);
	task_queue(engine->tasks, task, TASK_WAIT_CLAMP);
}

void clamping_apply_own(struct engine *engine, const struct input_own_clamps *input)
{
	struct task *task = input->own ? task_clamp(engine->tasks, input->pid)
				       : task_find(engine->tasks, input->pid);

	if (!task || task->own == input->own)
		return;
	task->own = input->own;
	clamping_rule_task(engine, task);
	task_queue(engine->tasks, task, TASK_WAIT_CLASS);
}

/* Rule numbers have new meanings: hands out every task's class again. */
void clamping_set_policy(struct engine *engine)
{
	bool had_classes = engine->clamp_classes.n > 1;
	struct task *task = NULL;

	clamp_classes_reset(&engine->clamp_classes, &engine->policy);
	while ((task = task_next(engine->tasks, task))) {
		if (!task->clamped)
			continue;
		task->class = 0;
		task->co_runner_class = 0;
		task_queue(engine->tasks, task, TASK_WAIT_CLASS);
	}
	while ((task = task_next(engine->tasks, task)))
		if (task->own)
			clamping_rule_task(engine, task);
	while ((task = task_next(engine->tasks, task)))
		if (task->matched)
			clamping_rule_task(engine, task);
	for (uint32_t cpu = 0; had_classes && cpu < engine->topology->n_cpus; cpu++)
		memset(engine->cpus[cpu].runs, 0, sizeof(engine->cpus[cpu].runs));
	queue_all(engine);
}

void clamping_apply_co_runner(struct engine *engine, const struct input_co_runner *input)
{
	uint32_t class = find_or_add_class(engine, input->matched, input->own);
	struct task *task = class ? task_clamp(engine->tasks, input->pid)
				  : task_find(engine->tasks, input->pid);

	if (!task || !task->clamped)
		return;
	task->co_runner_class = class;
	task_queue(engine->tasks, task, TASK_WAIT_CLAMP);
}

void clamping_apply_waited(struct engine *engine, const struct input_waited *input)
{
	struct task *task = input->keeps ? task_clamp(engine->tasks, input->pid)
					 : task_find(engine->tasks, input->pid);

	if (!task || task->waited == input->keeps)
		return;
	task->waited = input->keeps;
	task_queue(engine->tasks, task, TASK_WAIT_CLAMP);
}

void clamping_apply_bursts(struct engine *engine, const struct input_bursts *input)
{
	uint32_t class = find_or_add_class(engine, input->matched, input->own);
	struct task *task = NULL;

	if (!class || engine->clamp_classes.burst_ns[class] == input->length_ns)
		return;
	engine->clamp_classes.burst_ns[class] = input->length_ns;
	engine->clamp_classes.version++;
	for (uint32_t i = 0; i < engine->topology->n_domains; i++)
		engine_mark_domain(engine, i);
	while ((task = task_next(engine->tasks, task)))
		if (task->class == class || task->co_runner_class == class)
			task_queue(engine->tasks, task, TASK_WAIT_CLAMP);
}

void clamping_apply_run(struct engine *engine, const struct input_class_run *input)
{
	struct class_run *run;

	if (input->cpu >= engine->topology->n_cpus)
		return;
	run = &engine->cpus[input->cpu].runs[clamp_classes_find_or_add(&engine->clamp_classes,
								       input->matched, input->own)];
	/* Two former classes may be one under this policy. */
	if (input->ran_ns > run->ran_ns) {
		run->ran_ns = input->ran_ns;
		run->ran_pid = input->ran_pid;
	}
	if (input->long_running_ns > run->long_running_ns) {
		run->long_running_ns = input->long_running_ns;
		run->long_running_pid = input->long_running_pid;
	}
}

void clamping_count_domains(struct engine *engine)
{
	uint32_t before = engine->n_clamping, n_active = 0;

	engine->n_clamping = 0;
	for (uint32_t i = 0; i < engine->topology->n_domains; i++) {
		n_active += engine->domains[i].active;
		engine->n_clamping += engine->domains[i].active && engine->domains[i].clamps;
	}
	engine->needs_own = n_active > engine->n_clamping;
	if (!before == !engine->n_clamping)
		return;
	engine->clamp_classes.version++;
	queue_all(engine);
}

const struct clamp_classes *engine_clamp_classes(const struct engine *engine)
{
	return &engine->clamp_classes;
}

bool engine_clamps_tasks(const struct engine *engine)
{
	return engine->n_clamping;
}

bool engine_needs_own_clamps(const struct engine *engine)
{
	return engine->needs_own && engine->policy.caps.application_clamps;
}

uint32_t clamping_own_cap(const struct engine *engine, uint32_t pid, uint32_t domain,
			  int32_t *ret_rule)
{
	const struct task *task = task_find(engine->tasks, pid);
	struct class_clamp clamp = { .cap = CLAMP_CAP_NONE, .cap_rule = -1 };

	if (task && task->class)
		clamp_classes_in(&engine->clamp_classes, &engine->policy, task->class,
				 &engine->domains[domain].info, &clamp);
	*ret_rule = clamp.cap_rule;
	return clamp.cap;
}

const char *const clamp_why_names[] = {
	[CLAMP_NONE] = "none",		 [CLAMP_RULE] = "rule", [CLAMP_BOOST] = "io-boost",
	[CLAMP_NEIGHBOUR] = "neighbour", [CLAMP_NEED] = "need", [CLAMP_CHAIN] = "chain",
	[CLAMP_WAITED] = "waited",
};
