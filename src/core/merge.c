// SPDX-License-Identifier: GPL-2.0-only
/* The engine's decisions: the merge over a domain's CPUs and tasks. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "core/boosts.h"
#include "core/io_model.h"
#include "core/opp.h"
#include "core/rule.h"
#include "wakegov/chain.h"
#include "wakegov/decay.h"
#include "wakegov/util_acct.h"

/*
 * The boost that the task asks of this domain: its own, or the other one while the task moves to
 * and fro.
 */
static uint32_t boost_cap_in(const struct engine *engine, const struct io_task *task,
			     uint32_t domain)
{
	if (topology_domain_of(engine->topology, task->cpu) == domain)
		return engine_task_boost_cap(engine, task);
	if (task->flip.holds && task->flip.domain == domain && io_boost_is_held(&task->io_boost) &&
	    !io_groups_leave_out(engine, &engine->domains[domain], task))
		return opp_cap_at_khz(&engine->domains[domain].info, task->flip.khz);
	return 0;
}

/*
 * The idle time after which the past utilisation of a domain's CPUs no longer counts. It counts
 * again when half of that time was spent at work, so that a moment of work changes nothing.
 */
static uint64_t idle_after_ns(const struct domain *domain)
{
	uint64_t hold_ns = domain->policy.down_hold_ns;

	return domain->last.reason == REASON_IDLE ? hold_ns / 2 : hold_ns;
}

/* The idle time as if the present burst ended now: see account_end_busy(). */
static uint64_t cpu_idle_since_ns(const struct cpu *cpu)
{
	return cpu->idle_since_ns + (cpu->running ? ACCOUNT_IDLE_SHARE * cpu->burst_ns : 0);
}

/*
 * A CPU that runs for a moment after being idle is not at work, and its past utilisation does not
 * change the decision. A task with a known need is at work at once.
 */
static bool is_at_work(const struct cpu *cpu, uint64_t after_ns, uint64_t now_ns)
{
	return cpu->running && (!account_is_news(cpu->util_q, cpu->est_q) ||
				now_ns < cpu_idle_since_ns(cpu) + after_ns);
}

/* Since when every CPU of the domain is idle; UINT64_MAX while one is at work. */
static uint64_t idle_since_ns(const struct engine *engine, uint32_t domain, uint64_t now_ns)
{
	uint64_t after_ns = idle_after_ns(&engine->domains[domain]), since_ns = 0;

	engine_for_each_cpu(engine, cpu, domain) {
		const struct cpu *c = &engine->cpus[cpu];

		if (is_at_work(c, after_ns, now_ns))
			return UINT64_MAX;
		if (cpu_idle_since_ns(c) > since_ns)
			since_ns = cpu_idle_since_ns(c);
	}
	return since_ns;
}

/* A contender. Explanations also name those that lose. */
struct asked {
	enum reason reason;
	uint32_t cap;
	uint32_t cpu;
	uint32_t pid; /* 0: no task */
	const char *comm;
	int32_t rule;			 /* -1: none */
	const struct input_chain *chain; /* NULL: none */
};

static void note(const struct demand *demand, const struct asked *asked)
{
	struct contender contender = {
		.reason = asked->reason,
		.cap = asked->cap,
		.cpu = asked->cpu,
		.pid = asked->pid,
	};

	if (asked->chain) {
		contender.partner = asked->chain->waker;
		contender.share_permille = (uint64_t)asked->chain->util_q * 1000 / CHAIN_ONE;
	}
	if (asked->comm)
		memcpy(contender.comm, asked->comm, sizeof(contender.comm));
	explanation_note(demand->explanation, &contender);
}

/* Adds a contender; returns whether it is the highest so far. */
static bool ask(struct demand *demand, const struct asked *asked)
{
	note(demand, asked);
	if (asked->cap <= demand->cap)
		return false;
	demand->cap = asked->cap;
	demand->uncapped_cap = asked->cap;
	demand->reason = asked->reason;
	demand->cpu = asked->cpu;
	demand->pid = asked->pid;
	demand->comm = asked->comm;
	demand->rule = asked->rule;
	demand->capped_pid = 0;
	return true;
}

/*
 * The demand of a CPU at work: by its utilisation, by the known need of its task, by its burst.
 * After an idle time it is the known need of the task, whatever ran before.
 */
static uint32_t demand_cap(const struct domain *domain, const struct cpu *cpu, bool was_idle)
{
	const struct policy_domain *policy = &domain->policy;
	uint32_t need_q = was_idle ? cpu->est_q : account_need_q(cpu->util_q, cpu->est_q);
	uint32_t need_cap = utilisation_demand_cap(need_q, policy->headroom_percent);
	uint32_t burst_cap = was_idle ? 0
				      : utilisation_burst_cap(domain->info.capacity, cpu->burst_ns,
							      policy->rise_time_ns);

	return need_cap > burst_cap ? need_cap : burst_cap;
}

static void merge_utilisation(const struct engine *engine, uint32_t domain, bool was_idle,
			      struct demand *demand)
{
	const struct domain *d = &engine->domains[domain];

	engine_for_each_cpu(engine, cpu, domain)
		ask(demand, &(struct asked){
				    .reason = REASON_UTILISATION,
				    .cap = demand_cap(d, &engine->cpus[cpu], was_idle),
				    .cpu = cpu,
				    .rule = -1,
			    });
}

/* Cuts the demand to the cap of a task. */
static void bound(struct demand *demand, const struct clamp_at_work *by)
{
	if (demand->cap <= by->cap)
		return;
	demand->cap = by->cap;
	demand->rule = by->rule;
	demand->capped_pid = by->pid;
}

/* Asks for no more than the task's own cap. */
static void ask_within(struct demand *demand, const struct asked *asked,
		       const struct clamp_at_work *own)
{
	if (own->cap <= demand->cap)
		note(demand, asked);
	else if (ask(demand, asked))
		bound(demand, own);
}

static void raise_floor(struct demand *demand, uint32_t cap)
{
	if (cap > demand->floor_cap)
		demand->floor_cap = cap;
}

/* The lower one of the caps of a chain's task and of that one's waker: it holds for their chain. */
static struct clamp_at_work chain_cap(const struct engine *engine, const struct input_chain *chain,
				      uint32_t domain)
{
	struct clamp_at_work own = { .pid = chain->pid }, waker = { .pid = chain->waker };

	own.cap = clamping_own_cap(engine, own.pid, domain, &own.rule);
	waker.cap = clamping_own_cap(engine, waker.pid, domain, &waker.rule);
	return own.cap < waker.cap ? own : waker;
}

/*
 * A chain asks for the frequency that its utilisation would ask for if one CPU did all its work. It
 * is a floor as well, up to the effective cap, whatever its CPUs ask for: their own governor does
 * not see it, and sees later than we do what they do themselves.
 */
static void merge_chains(const struct engine *engine, uint32_t domain, uint32_t most_cap,
			 uint64_t now_ns, struct demand *demand)
{
	const struct policy_domain *policy = &engine->domains[domain].policy;

	engine_for_each_cpu(engine, cpu, domain) {
		const struct cpu *c = &engine->cpus[cpu];
		struct asked asked = {
			.reason = REASON_CHAIN,
			.cap = utilisation_demand_cap(c->chain.util_q, policy->headroom_percent),
			.cpu = cpu,
			.pid = c->chain.pid,
			.rule = -1,
			.chain = &c->chain,
		};
		struct clamp_at_work own;
		uint32_t cap, most;

		if (!engine->policy.chains || !engine_chain_until_ns(c, now_ns))
			continue;
		most = c->chain.waker
			       ? asked.cap
			       : clamping_most_waiting(engine,
						       task_find(engine->tasks, c->chain.pid),
						       &engine->domains[domain].info);
		if (!most)
			continue;
		if (asked.cap > most)
			asked.cap = most;
		own = chain_cap(engine, &c->chain, domain);
		cap = asked.cap < own.cap ? asked.cap : own.cap;
		ask_within(demand, &asked, &own);
		demand->is_waited_for |= !c->chain.waker;
		raise_floor(demand, cap < most_cap ? cap : most_cap);
	}
}

/* Demand above the cap of a task at work is due to the task that raised the effective cap. */
static void name_uncapper(const struct effective_cap *cap, struct demand *demand)
{
	if (demand->reason == REASON_UTILISATION && cap->long_running.until_ns &&
	    demand->cap > cap->lowest_cap)
		demand->pid = cap->long_running.pid;
}

static void merge_uncap(const struct domain *domain, uint64_t now_ns, struct demand *demand)
{
	const struct clamp_at_work *uncap = &domain->uncap;
	uint32_t capacity = domain->info.capacity;

	if (now_ns < uncap->until_ns)
		ask(demand, &(struct asked){
				    .reason = REASON_UNCAPPED,
				    .cap = uncap->cap < capacity ? uncap->cap : capacity,
				    .cpu = uncap->cpu,
				    .pid = uncap->pid,
				    .rule = -1,
			    });
}

static void merge_floor(const struct engine *engine, const struct clamp_at_work *floor,
			struct demand *demand)
{
	const struct task *task = task_find(engine->tasks, floor->pid);

	if (!floor->until_ns)
		return;
	raise_floor(demand, floor->cap);
	ask(demand, &(struct asked){
			    .reason = floor->rule < 0 ? REASON_OWN_FLOOR : REASON_FLOOR,
			    .cap = floor->cap,
			    .cpu = floor->cpu,
			    .pid = floor->pid,
			    .comm = task && task->clamped ? task->comm : NULL,
			    .rule = floor->rule,
		    });
}

/* The task's own cap bounds its boost, and the resulting demand. */
static void merge_boost(const struct engine *engine, const struct io_task *task, uint32_t domain,
			uint32_t cap, uint32_t cpu, struct demand *demand)
{
	const struct asked asked = {
		.reason = REASON_IO_BOOST,
		.cap = cap,
		.cpu = cpu,
		.pid = task->pid,
		.comm = task->comm,
		.rule = -1,
	};
	struct clamp_at_work own = { .pid = task->pid };

	/*
	 * Most tasks ask for nothing: this test saves most of the time on a machine with many
	 * tasks.
	 */
	if (!asked.cap)
		return;
	own.cap = clamping_own_cap(engine, task->pid, domain, &own.rule);
	raise_floor(demand, asked.cap < own.cap ? asked.cap : own.cap);
	ask_within(demand, &asked, &own);
}

/* Where kernel threads work for boosted tasks, wherever those are. */
static void merge_served(const struct engine *engine, uint32_t domain, struct demand *demand)
{
	engine_for_each_cpu(engine, cpu, domain) {
		const struct io_task *task = engine_served_on(engine, cpu);

		if (task)
			merge_boost(engine, task, domain, engine_task_boost_cap(engine, task), cpu,
				    demand);
	}
}

/*
 * The maximum over CPUs and boosts. After a domain goes idle, its CPUs' past utilisation counts for
 * the hold time only: an idle domain belongs at its lowest OPP. The effective cap bounds the demand
 * of CPUs. Boosts and floors are held for longer than a change of frequency takes, so only their
 * own task's cap bounds them.
 */
static void merge(const struct engine *engine, const struct domain *d,
		  const struct effective_cap *cap, uint64_t now_ns, struct demand *demand)
{
	uint32_t domain = d->last.domain;
	uint64_t after_ns = idle_after_ns(d);
	bool was_idle;

	*demand = (struct demand){
		.explanation = demand->explanation,
		.reason = REASON_IDLE,
		.cpu = engine->topology->domains[domain].first_cpu,
		.rule = -1,
		.idle_since_ns = idle_since_ns(engine, domain, now_ns),
	};
	was_idle = demand->idle_since_ns != UINT64_MAX &&
		   now_ns >= demand->idle_since_ns + after_ns;
	merge_utilisation(engine, domain, was_idle, demand);
	demand->own_cap = demand->cap;
	merge_chains(engine, domain, cap->bound.cap, now_ns, demand);
	bound(demand, &cap->bound);
	name_uncapper(cap, demand);
	merge_uncap(d, now_ns, demand);
	merge_floor(engine, &cap->floor, demand);
	engine_for_each_due(engine, DUE_IN_DOMAIN, domain, task)
		merge_boost(engine, task, domain, boost_cap_in(engine, task, domain), task->cpu,
			    demand);
	merge_served(engine, domain, demand);
}

/* Notes the I/O of the winner, if a task's boost won. */
static void explain_io(const struct engine *engine, const struct demand *demand,
		       const struct topology_domain *info, struct explanation *ret)
{
	const struct io_task *task = io_task_find(engine->tasks, demand->pid);
	const struct io_boost *boost;
	uint32_t lowest = io_level_at(info, info->opp_khz[0]);

	if (demand->reason != REASON_IO_BOOST || !task)
		return;
	boost = &task->io_boost;
	ret->has_io = true;
	ret->io = (struct explained_io){
		.state = boost->state,
		.device = boost->device,
		.rate_per_s = boost->rate_per_s,
		.wanted_khz = boost->wanted_khz,
		.host_ppm = io_share_of_ratio(boost->ratio, lowest),
		.predicted_ppm = io_saved_ppm(boost->ratio, lowest,
					      io_level_at(info, boost->wanted_khz)),
	};
	engine_estimate(engine, boost, &ret->io.tried, &ret->io.found);
}

static void explain_rule(const struct engine *engine, const struct decision *decision,
			 struct explained_rule *ret)
{
	const struct policy_rule *rule;

	if (!rule_exists(&engine->policy, decision->rule - 1LL))
		return;
	rule = &engine->policy.rules[decision->rule - 1];
	memcpy(ret->name, rule->name, sizeof(ret->name));
	memcpy(ret->file, rule->file, sizeof(ret->file));
	ret->line = rule->line;
	ret->pid = decision->capped_pid ?: decision->pid;
}

const struct decision *engine_decide(struct engine *engine, uint32_t domain, uint64_t now_ns)
{
	struct domain *d = &engine->proposed;

	assert(engine->domains[domain].active && !engine->is_deciding);
	engine->is_deciding = true;
	*d = engine->domains[domain];
	engine->explanations[domain] = (struct explanation){ 0 };
	engine->demand.explanation = &engine->explanations[domain];
	effective_cap_find(engine, domain, now_ns, &engine->cap);
	effective_cap_set(d, &engine->cap, now_ns);
	merge(engine, d, &engine->cap, now_ns, &engine->demand);
	domain_decide(d, &engine->demand, now_ns);
	return &d->last;
}

/* What a write does not wait for: explains the decision, and plans the next one. */
static void settle_proposed(struct engine *engine)
{
	struct domain *d = &engine->proposed;
	struct explanation *explanation = engine->demand.explanation;
	uint64_t now_ns = d->last.now_ns;

	explain_io(engine, &engine->demand, &d->info, explanation);
	explain_rule(engine, &d->last, &explanation->rule);
	domain_explain(d, explanation);
	engine_plan_next(engine, d, &engine->demand, now_ns);
	effective_cap_plan(d, &engine->cap, now_ns);
	effective_cap_watch(engine, d, &engine->cap);
}

void engine_commit(struct engine *engine, uint32_t domain, enum engine_outcome outcome)
{
	struct domain *d = &engine->domains[domain];

	assert(engine->is_deciding && engine->proposed.last.domain == domain);
	engine->is_deciding = false;
	settle_proposed(engine);
	memcpy(d, &engine->proposed, offsetof(struct domain, policy));
	if (outcome == ENGINE_NOT_SET) {
		d->last.target_khz = d->last.previous_khz;
		d->next_ns = d->last.now_ns + domain_rate_limit_ns(d);
	}
	engine_plan_domain(engine, domain);
	engine_tap_call(engine, &(struct engine_call){ .type = ENGINE_COMMIT,
						       .now_ns = d->last.now_ns,
						       .decision = &engine->proposed.last,
						       .outcome = outcome });
	if (engine_places_by_clamps(engine, domain))
		clamping_follow_chains(engine, domain, d->last.now_ns);
	/* The need has changed with it. */
	if (d->clamps && d->last.target_khz != d->last.previous_khz)
		clamping_follow_io(engine);
}

const struct explanation *engine_explanation(const struct engine *engine, uint32_t domain)
{
	return &engine->explanations[domain];
}
