// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a decision costs with many tasks and domains: a CPU of one domain changes, a round
 * decides, and says when the next is due. The core alone, on a made-up machine: nothing is read or
 * written.
 *
 * Usage: scale TASKS DOMAINS: prints ns per changed domain, the median, and bytes of the core's
 * memory per task: its state and its key. tests/bench/scale runs it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "config/keys.h"
#include "core/due.h"
#include "core/engine.h"
#include "shared/time.h"

#define ROUNDS	     2001
#define FIRST_PID    1000
#define OPPS	     10
#define OPP_STEP_KHZ 200000
#define LEAST_ROUNDS 11
#define MOST_NS	     (2 * NS_PER_S) /* after so many rounds, and so long, it is enough */
#define ROUND_NS     NS_PER_S	    /* longer than a domain's rate limit and hold time */

static uint32_t n_changed;

static void ignore_device(void *userdata, uint32_t device, uint64_t now_ns)
{
}

static void on_decision(void *userdata, const struct decision *decision)
{
	engine_commit(userdata, decision->domain, ENGINE_SET);
	n_changed += decision->target_khz != decision->previous_khz;
}

static struct topology *make_topology(uint32_t n_domains)
{
	struct topology *topology =
		calloc(1, sizeof(*topology) + n_domains * sizeof(topology->domains[0]));

	if (!topology)
		abort();
	topology->n_domains = n_domains;
	topology->n_cpus = n_domains;
	for (uint32_t i = 0; i < n_domains; i++) {
		struct topology_domain *domain = &topology->domains[i];

		topology->cpu_domain[i] = i;
		snprintf(domain->name, sizeof(domain->name), "policy%u", i);
		domain->first_cpu = i;
		domain->capacity = TOPOLOGY_CAPACITY_MAX;
		domain->n_opps = OPPS;
		for (uint32_t opp = 0; opp < OPPS; opp++)
			domain->opp_khz[opp] = (opp + 1) * OPP_STEP_KHZ;
	}
	return topology;
}

static void start_domain(struct engine *engine, uint32_t i, uint64_t now_ns)
{
	const struct input there = { .now_ns = now_ns,
				     .type = INPUT_DOMAIN,
				     .domain = { .domain = i, .active = true, .driven = true } };
	const struct input limits = {
		.now_ns = now_ns,
		.type = INPUT_LIMITS,
		.limits = { .domain = i, .min_khz = OPP_STEP_KHZ, .max_khz = OPPS * OPP_STEP_KHZ }
	};

	engine_apply(engine, &there);
	engine_apply(engine, &limits);
}

/* A task that does I/O, whose window is longer than the run: it is rarely sampled meanwhile. */
static void apply_task(struct engine *engine, uint32_t handle, uint32_t cpu, uint64_t now_ns)
{
	const struct input input = { .now_ns = now_ns,
				     .type = INPUT_TASK,
				     .task = { .pid = FIRST_PID + handle,
					       .tgid = FIRST_PID + handle,
					       .handle = handle,
					       .cpu = cpu,
					       .last_io_ns = now_ns } };

	engine_apply(engine, &input);
}

static void sample_task(void *userdata, const struct io_task *task, uint64_t now_ns)
{
	apply_task(userdata, task->handle, task->cpu, now_ns);
}

/* Returns how long it took, in ns; the domains take turns, up and down. */
static uint64_t change_one(struct engine *engine, uint32_t n_domains, uint32_t turn,
			   uint64_t now_ns)
{
	static const struct engine_ops ops = {
		.sample_task = sample_task,
		.sample_device = ignore_device,
		.on_decision = on_decision,
	};
	const struct input input = {
		.now_ns = now_ns,
		.type = INPUT_CPU,
		.cpu = { .cpu = turn % n_domains,
			 .util_q = (turn / n_domains % 2 ? 100 : 700) << 20,
			 .running = true,
			 .idle_since_ns = UINT64_MAX },
	};
	uint64_t start_ns = time_now_ns();

	engine_apply(engine, &input);
	engine_round(engine, &ops, engine, now_ns);
	engine_next_ns(engine);
	return time_now_ns() - start_ns;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int main(int argc, char **argv)
{
	uint32_t n_tasks = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	uint32_t n_domains = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, n = 0;
	static uint64_t took_ns[ROUNDS];
	struct topology *topology;
	struct engine *engine;
	struct policy policy;
	uint64_t now_ns = NS_PER_S, sum_ns = 0;

	if (!n_tasks || !n_domains || n_domains > TOPOLOGY_DOMAINS_MAX) {
		fprintf(stderr, "usage: scale TASKS DOMAINS\n");
		return EXIT_FAILURE;
	}
	policy_init(&policy);
	policy.max_tasks = n_tasks;
	policy.io_boost.window_ns = 10 * ROUNDS * ROUND_NS;
	policy.io_boost.hold_ns = 10 * ROUNDS * ROUND_NS;
	topology = make_topology(n_domains);
	engine = engine_new(topology, &policy);
	if (!engine) {
		fprintf(stderr, "scale: no memory\n");
		return EXIT_FAILURE;
	}
	for (uint32_t i = 0; i < n_domains; i++)
		start_domain(engine, i, now_ns);
	for (uint32_t i = 0; i < n_tasks; i++)
		apply_task(engine, i, i % n_domains, now_ns);
	for (uint32_t turn = 0; turn < n_domains + ROUNDS; turn++) {
		if (n >= LEAST_ROUNDS && sum_ns > MOST_NS)
			break;
		uint64_t ns;

		now_ns += ROUND_NS;
		n_changed = 0;
		ns = change_one(engine, n_domains, turn, now_ns);
		if (turn >= n_domains && n_changed == 1)
			sum_ns += took_ns[n++] = ns;
	}
	qsort(took_ns, n, sizeof(took_ns[0]), compare);
	printf("%u %u %u %llu %.0f\n", n_tasks, n_domains, n,
	       n ? (unsigned long long)took_ns[n / 2] : 0,
	       (double)engine_state_size(topology, &policy) / n_tasks + sizeof(struct due_key));
	engine_free(engine);
	free(topology);
	return n >= LEAST_ROUNDS ? EXIT_SUCCESS : EXIT_FAILURE;
}
