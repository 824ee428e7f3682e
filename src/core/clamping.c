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

#include "core/engine_private.h"
#include "core/io_model.h"
#include "core/opp.h"
#include "wakegov/decay.h"

#define FITS_PERCENT 125 /* of its utilisation a task needs to fit: fits_capacity() */

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

uint32_t engine_task_boost_cap(const struct engine *engine, const struct io_task *task)
{
	const struct domain *domain = engine_domain_of(engine, task->cpu);

	if (!domain || !io_boost_is_held(&task->io_boost) ||
	    engine_leaves_alone(engine, domain, task))
		return 0;
	return opp_cap_at_khz(&domain->info, task->io_boost.wanted_khz);
}

/*
 * A task whose maximum is at most a CPU's capacity fits there, however busy the CPU is, and does
 * not make it overutilised (util_fits_cpu() and cpu_overutilized() in the kernel): where CPUs are
 * of unlike capacity, such tasks can be left several to a little CPU beside idle ones. No harm is
 * done as long as one little CPU could do all that the machine does.
 */
static bool maximum_may_crowd(const struct engine *engine)
{
	uint64_t used_q = 0;

	if (!engine->little_capacity)
		return false;
	for (uint32_t i = 0; i < engine->topology->n_domains; i++) {
		if (engine->domains[i].last.reason == REASON_IDLE)
			continue;
		engine_for_each_cpu(engine, cpu, i)
			used_q += engine->cpus[cpu].util_q;
	}
	return used_q * FITS_PERCENT / 100 > DECAY_Q(engine->little_capacity);
}

uint32_t engine_need_khz(const struct engine *engine, const struct domain *domain)
{
	uint32_t khz = domain->last.target_khz;

	if (!domain->clamps || khz >= topology_domain_max_khz(&domain->info) ||
	    maximum_may_crowd(engine))
		return 0;
	return khz;
}

uint32_t engine_task_need_cap(const struct engine *engine, const struct io_task *task)
{
	const struct domain *domain = engine_domain_of(engine, task->cpu);
	uint32_t index = task->io_boost.group;
	const struct io_group *group;

	if (!domain || io_boost_is_over(&task->io_boost) || index == IO_BOOST_NO_GROUP)
		return 0;
	group = &engine->groups[index];
	if (!group->is_kernels || group->experiment.arm ||
	    (domain->trial != index + 1 && group->experiment.verdict != EXPERIMENT_DOESNT))
		return 0;
	return opp_cap_at_khz(&domain->info, engine_need_khz(engine, domain));
}

bool engine_uses_target(const struct engine *engine, uint32_t domain)
{
	return !engine->domains[domain].clamps || due_has(engine->due, 1u << DUE_LIVE);
}

bool engine_kernel_boosts(const struct engine *engine, const struct io_task *task)
{
	const struct domain *domain = engine_domain_of(engine, task->cpu);
	const struct io_boost *boost = &task->io_boost;

	return domain && domain->clamps && !io_boost_is_over(boost) && boost->waits_for_io &&
	       !boost->granted && !engine_task_need_cap(engine, task);
}

/* Who asks for a big CPU. */
struct asking {
	uint32_t n;
	uint64_t share_ppm; /* of a big CPU's time, together */
};

/*
 * Each big CPU gets one task, and more only up to this share of its time. With twice of it, readers
 * wait for each other on big CPUs for longer than little ones would take; with half, some are
 * slower on little CPUs beside big ones that are mostly idle.
 */
#define BIG_SHARE_PPM (IO_PPM / 2)

static bool fits_big_cpus(const struct engine *engine, uint32_t share_ppm, struct asking *asking)
{
	uint64_t most_ppm = (uint64_t)engine->n_big_cpus * BIG_SHARE_PPM;

	asking->share_ppm += share_ppm;
	return ++asking->n <= engine->n_big_cpus || asking->share_ppm <= most_ppm;
}

/*
 * The least minimum that does not fit a little CPU, also by a schedutil that adds its margin after
 * the clamp; 0: no CPU is larger.
 */
static uint32_t big_cap(const struct engine *engine)
{
	uint32_t cap = engine->little_capacity * FITS_PERCENT / 100 + 2;

	return cap <= engine->domains[engine->big_domain].info.capacity ? cap : 0;
}

static bool fits_little_cpu(const struct engine *engine, uint32_t util_q)
{
	return (uint64_t)util_q * FITS_PERCENT / 100 <= DECAY_Q(engine->little_capacity);
}

/*
 * A task whose CPU has more to do than a little one can. The kernel can leave such tasks there,
 * several to a CPU, beside a big one that is idle: what interrupts take of their time does not
 * count for them, and it evens out no difference of one idle CPU (sched_balance_find_src_group()).
 * Returns what it is to ask for; 0: it fits.
 */
static uint32_t outgrown_cap(const struct engine *engine, const struct io_task *io)
{
	uint32_t domain = topology_domain_of(engine->topology, io->cpu);

	if (domain == TOPOLOGY_NO_DOMAIN || !engine_places_by_clamps(engine, domain) ||
	    io_boost_is_over(&io->io_boost) ||
	    fits_little_cpu(engine, engine->cpus[io->cpu].util_q))
		return 0;
	return big_cap(engine);
}

static bool is_of_chain(const struct domain *domain, uint32_t pid)
{
	return pid && (domain->chain_pids[0] == pid || domain->chain_pids[1] == pid);
}

/* Whether an earlier domain has this one's chain, or part of it. */
static bool is_of_earlier(const struct engine *engine, uint32_t domain)
{
	const uint32_t *pids = engine->domains[domain].chain_pids;

	for (uint32_t i = 0; i < domain; i++)
		if (is_of_chain(&engine->domains[i], pids[0]) ||
		    is_of_chain(&engine->domains[i], pids[1]))
			return true;
	return false;
}

/* Each chain takes a big CPU: one of its tasks works at a time. */
static struct asking asked_by_chains(const struct engine *engine)
{
	struct asking asking = { 0 };

	for (uint32_t i = 0; i < engine->topology->n_domains; i++)
		if (engine->domains[i].chain_pids[0] && !is_of_earlier(engine, i))
			fits_big_cpus(engine, IO_PPM, &asking);
	return asking;
}

/* A floor holds the domain at the OPP of the boost; this also says on which CPUs that is wanted. */
static uint32_t boost_min_cap(const struct engine *engine, const struct io_task *io,
			      struct asking *asking)
{
	uint32_t cap = engine_task_boost_cap(engine, io) ? io->io_boost.wanted_cap : 0;
	uint32_t outgrown = outgrown_cap(engine, io), ratio = io->io_boost.ratio;
	uint32_t share_ppm = ratio ? io_share_of_ratio(ratio, IO_LEVEL_MAX) : IO_PPM;

	if (outgrown > cap)
		return fits_big_cpus(engine, IO_PPM, asking) ? outgrown : cap;
	if (!engine->little_capacity || cap <= engine->little_capacity ||
	    fits_big_cpus(engine, share_ppm, asking))
		return cap;
	return engine->little_capacity;
}

/* A task whose I/O is followed does not get a cap as a co-runner. */
static void follow_io(struct engine *engine, const struct io_task *io, struct asking *asking)
{
	uint32_t boost_cap = boost_min_cap(engine, io, asking);
	uint32_t need_cap = engine_task_need_cap(engine, io);
	struct task *task = boost_cap || need_cap ? task_clamp(engine->tasks, io->pid)
						  : task_find(engine->tasks, io->pid);
	bool does_io = !io->released;

	if (!task || !task->clamped ||
	    (task->boost_cap == boost_cap && task->need_cap == need_cap &&
	     task->does_io == does_io))
		return;
	task->boost_cap = boost_cap;
	task->need_cap = need_cap;
	task->does_io = does_io;
	task_queue(engine->tasks, task, TASK_WAIT_CLAMP);
}

void clamping_follow_io(struct engine *engine)
{
	const struct io_task *task = NULL;
	struct asking asking = { 0 };

	if (engine->little_capacity)
		asking = asked_by_chains(engine);
	while (engine->n_clamping && (task = io_task_next(engine->tasks, task)))
		follow_io(engine, task, &asking);
}

static void set_chain_cap(struct engine *engine, uint32_t pid, uint32_t cap)
{
	struct task *task = cap ? task_clamp(engine->tasks, pid) : task_find(engine->tasks, pid);

	if (!task || task->chain_cap == cap)
		return;
	task->chain_cap = cap;
	task_queue(engine->tasks, task, TASK_WAIT_CLAMP);
}

/* What both tasks are to ask for; 0: it fits each CPU. */
static uint32_t chain_min_cap(const struct engine *engine, uint32_t domain,
			      const struct input_chain *chain)
{
	uint32_t least = big_cap(engine), cap;

	if (fits_little_cpu(engine, chain->util_q) || !least)
		return 0;
	cap = utilisation_demand_cap(chain->util_q,
				     engine->domains[domain].policy.headroom_percent);
	return cap > least ? cap : least;
}

/* The domain has the chain, unless each big CPU has another one. */
static void claim_big_cpu(struct engine *engine, uint32_t domain, const struct input_chain *chain)
{
	uint32_t *pids = engine->domains[domain].chain_pids;

	pids[0] = chain->pid;
	pids[1] = chain->waker;
	if (asked_by_chains(engine).n > engine->n_big_cpus)
		pids[0] = pids[1] = 0;
}

static bool any_has(const struct engine *engine, uint32_t pid)
{
	for (uint32_t i = 0; i < engine->topology->n_domains; i++)
		if (is_of_chain(&engine->domains[i], pid))
			return true;
	return false;
}

/*
 * Each task of a chain is idle for part of its time, and fits a little CPU when the chain does not.
 * There it would be slower however fast that one is. Another domain may have it by now.
 */
void clamping_follow_chain(struct engine *engine, uint32_t domain, const struct input_chain *chain)
{
	uint32_t *pids = engine->domains[domain].chain_pids;
	uint32_t before[2] = { pids[0], pids[1] };
	uint32_t cap = chain ? chain_min_cap(engine, domain, chain) : 0;

	pids[0] = pids[1] = 0;
	if (cap)
		claim_big_cpu(engine, domain, chain);
	for (uint32_t i = 0; i < 2; i++) {
		if (before[i] && !any_has(engine, before[i]))
			set_chain_cap(engine, before[i], 0);
		if (pids[i])
			set_chain_cap(engine, pids[i], cap);
	}
}

void clamping_end_io(struct engine *engine, uint32_t pid)
{
	struct task *task = task_find(engine->tasks, pid);

	if (!task || (!task->boost_cap && !task->need_cap && !task->does_io))
		return;
	task->boost_cap = 0;
	task->need_cap = 0;
	task->does_io = false;
	task_queue(engine->tasks, task, TASK_WAIT_CLAMP);
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

const char *clamp_why_name(enum clamp_why why)
{
	static const char *const names[] = {
		[CLAMP_NONE] = "none",		 [CLAMP_RULE] = "rule", [CLAMP_BOOST] = "io-boost",
		[CLAMP_NEIGHBOUR] = "neighbour", [CLAMP_NEED] = "need", [CLAMP_CHAIN] = "chain",
	};

	return names[why];
}
