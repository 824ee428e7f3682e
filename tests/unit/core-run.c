// SPDX-License-Identifier: GPL-2.0-only
#include "core-run.h"

#include <stdlib.h>
#include <string.h>

#include "config/keys.h"
#include "core/engine.h"
#include "core/io_model.h"
#include "core/opp.h"
#include "wakegov/decay.h"

#define NS_PER_S    1000000000ULL
#define NS_PER_MS   1000000ULL
#define N_CPUS	    4
#define LOWEST_KHZ  400000
#define HIGHEST_KHZ 2000000
#define STEP_KHZ    200000

static struct topology *make_topology(void)
{
	struct topology *topology = calloc(1, sizeof(*topology) + sizeof(topology->domains[0]));
	struct topology_domain *domain;

	if (!topology)
		abort();
	topology->n_cpus = N_CPUS;
	topology->n_domains = 1;
	domain = &topology->domains[0];
	domain->name[0] = 'a';
	domain->capacity = TOPOLOGY_CAPACITY_MAX;
	for (uint32_t khz = LOWEST_KHZ; khz <= HIGHEST_KHZ; khz += STEP_KHZ)
		domain->opp_khz[domain->n_opps++] = khz;
	return topology;
}

static void set_rules(struct policy *policy)
{
	static const uint32_t caps[] = { 30, 45, 60 };
	uint32_t i;

	policy_init(policy);
	policy->n_rules = 4;
	for (i = 0; i < policy->n_rules; i++)
		policy->rules[i].domain_cpu = POLICY_ANY_DOMAIN;
	for (i = 0; i < 3; i++)
		policy->rules[i].properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT,
									 caps[i] };
	policy->rules[3].properties.floor = (struct policy_level){ POLICY_LEVEL_PERCENT, 50 };
}

static void make_busy(struct engine *engine, uint64_t now_ns)
{
	struct input input = { .now_ns = now_ns,
			       .type = INPUT_DOMAIN,
			       .domain = { .active = true, .driven = true } };

	engine_apply(engine, &input);
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
		input = (struct input){
			.now_ns = now_ns,
			.type = INPUT_CPU,
			.cpu = { .cpu = cpu,
				 .util_q = DECAY_Q(TOPOLOGY_CAPACITY_MAX),
				 .est_q = DECAY_Q(TOPOLOGY_CAPACITY_MAX),
				 .running = true },
		};
		engine_apply(engine, &input);
	}
}

static void run_task(struct engine *engine, const struct caps_run_task *task, uint32_t pid,
		     uint64_t now_ns)
{
	struct input input = {
		.now_ns = now_ns,
		.type = INPUT_CLASS_RUN,
		.class_run = { .cpu = task->cpu,
			       .matched = task->matched,
			       .ran_ns = now_ns,
			       .ran_pid = pid },
	};

	/* Of those without a clamp the ones that count are all that the kernel side keeps. */
	if (!task->matched && !task->counts)
		return;
	if (task->counts) {
		input.class_run.long_running_ns = now_ns;
		input.class_run.long_running_pid = pid;
	}
	engine_apply(engine, &input);
}

uint32_t caps_run_target_khz(const struct caps_run_task *tasks, uint32_t n_tasks)
{
	struct topology *topology = make_topology();
	uint64_t now_ns = 1000 * NS_PER_S;
	struct policy policy;
	struct engine *engine;
	uint32_t target_khz;

	set_rules(&policy);
	engine = engine_new(topology, &policy);
	if (!engine)
		abort();
	make_busy(engine, now_ns);
	for (uint32_t i = 0; i < n_tasks; i++)
		run_task(engine, &tasks[i], i + 1, now_ns);
	target_khz = engine_decide(engine, 0, now_ns + 2 * NS_PER_MS)->target_khz;
	engine_free(engine);
	free(topology);
	return target_khz;
}

uint32_t core_run_choose_khz(const uint32_t *opp_khz, uint32_t n_opps, uint32_t capacity,
			     uint32_t ratio, uint32_t slack_ppm, uint32_t min_khz, uint32_t max_khz)
{
	struct topology_domain domain = { .capacity = capacity, .n_opps = n_opps };

	memcpy(domain.opp_khz, opp_khz, n_opps * sizeof(*opp_khz));
	return io_choose_khz(&domain, ratio, slack_ppm, min_khz, max_khz);
}

uint32_t core_run_level(uint32_t khz, uint32_t max_khz, uint32_t capacity)
{
	const struct topology_domain domain = {
		.capacity = capacity,
		.n_opps = 1,
		.opp_khz = { max_khz },
	};

	return io_level_at(&domain, khz);
}

void account_run_cpu(struct account_cpu *cpu, uint64_t now_ns)
{
	account_cpu(cpu, now_ns);
}

uint32_t account_run_util_q(const struct account_cpu *cpu)
{
	return account_util_q(cpu);
}

void account_run_switch(struct account_cpu *cpu, struct account_task *prev, bool sleeps,
			uint32_t next, struct account_task *next_task, uint64_t now_ns)
{
	if (prev)
		account_task_leaves(prev, cpu, cpu->switched_ns, sleeps, now_ns);
	if (next && !account_is_back(cpu, next, now_ns))
		account_task_comes(next_task, cpu, next, now_ns);
	account_switch(cpu, next, now_ns);
}

void account_run_tick(struct account_cpu *cpu, struct account_task *task, uint64_t now_ns)
{
	account_cpu(cpu, now_ns);
	account_task_ran(task, cpu, now_ns);
}

void account_run_move(struct account_task *task, struct account_cpu *from, struct account_cpu *to,
		      uint64_t now_ns)
{
	account_cpu(from, now_ns);
	account_cpu(to, now_ns);
	account_move(task, from, to, now_ns);
	account_cpu(from, now_ns);
	account_cpu(to, now_ns);
}
