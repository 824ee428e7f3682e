// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegov itself: the daemon's core objects, fed with what the kernel side tells, in the daemon's
 * round (src/daemon/round.c). Everything that reaches the engine is made in this file. The daemon's
 * own work is not simulated.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/keys.h"
#include "sim/sim_private.h"
#include "sim/wakegov_kernel.h"
#include "wakegov/decay.h"

#define NS_PER_S 1000000000ULL

void wakegov_sim_run_at(struct sim *sim, uint64_t at_ns)
{
	struct wakegov_sim *w = sim->governor_data;

	if (at_ns >= w->round_ns)
		return;
	w->round_ns = at_ns;
	sim_set_timer(sim, at_ns);
}

static void sample_cpu(struct wakegov_sim *w, uint32_t cpu, uint64_t now_ns)
{
	struct account_cpu load = w->cpus[cpu].load;
	struct input input = { .now_ns = now_ns, .type = INPUT_CPU };

	account_cpu(&load, now_ns);
	input.cpu = (struct input_cpu){
		.cpu = cpu,
		.util_q = account_util_q(&load),
		.running = load.running,
		.idle_since_ns = load.idle_since_ns,
		.est_q = load.est_q,
		.burst_ns = account_burst_ns(&load, now_ns),
		.chain = w->cpus[cpu].chain,
	};
	engine_apply(w->engine, &input);
}

/* Since it began it ran, or waited for a CPU, or slept. */
static uint64_t waited_ns(const struct sim *sim, const struct sim_thread *thread)
{
	uint64_t slept_ns = thread->asleep_ns;

	if (thread->state == SIM_THREAD_ASLEEP)
		slept_ns += sim->now_ns - thread->asleep_since_ns;
	return sim->now_ns - slept_ns - sim_thread_on_cpu_ns(sim, thread);
}

/* The disk's totals, and the task's: from here on its part in them is counted. */
static void begin_in_flight(struct sim *sim, struct wakegov_sim_task *t)
{
	struct sim_device *device = &sim->devices[t->device];

	sim_device_account(sim, device);
	t->disk_in_flight_ns = device->in_flight_ns;
	t->disk_completions = device->completions;
	t->disk_ios = t->ios;
	t->disk_ns = sim->now_ns;
	t->disk_told_ns = 0;
}

/*
 * As in src/tracer/tasks.c: of the disk's requests that ended, those of the task, by their number;
 * while none ends, as many as before are in flight, and those that it has sent since. There are no
 * writes here, all requests are alike, and the time of one is counted as it passes.
 */
static void add_in_flight(struct sim *sim, struct wakegov_sim_task *t)
{
	struct sim_device *device = &sim->devices[t->device];
	uint64_t done = device->completions - t->disk_completions, n = t->ios - t->disk_ios;
	uint64_t passed_ns = sim->now_ns - t->disk_ns, own_ns = (t->disk_depth + n) * passed_ns;

	sim_device_account(sim, device);
	if (done)
		own_ns = (device->in_flight_ns - t->disk_in_flight_ns) * (n < done ? n : done) /
			 done;
	t->in_flight_ns += own_ns > t->disk_told_ns ? own_ns - t->disk_told_ns : 0;
	t->disk_told_ns = own_ns;
	if (!done)
		return;
	t->disk_depth = passed_ns ? (own_ns + passed_ns / 2) / passed_ns : 0;
	begin_in_flight(sim, t);
}

/* As tracer_learn(). */
static void learn(struct sim *sim, bool learns)
{
	struct wakegov_sim *w = sim->governor_data;

	if (learns == w->learns)
		return;
	w->learns = learns;
	for (uint32_t i = 0; i < sim->n_threads; i++)
		begin_in_flight(sim, &w->tasks[i]);
}

static void sample_task(struct sim *sim, uint32_t handle, uint64_t now_ns)
{
	struct wakegov_sim *w = sim->governor_data;
	struct wakegov_sim_task *t = &w->tasks[handle];
	struct account_cpu load = w->cpus[t->cpu].load;
	struct input input;

	if (w->learns)
		add_in_flight(sim, t);
	input = (struct input){
		.now_ns = now_ns,
		.type = INPUT_TASK,
		.task = {
			.pid = handle + 1,
			.tgid = 1 + (sim->threads[handle].group - sim->workload->groups),
			.worked_ns = sim_thread_on_cpu_ns(sim, &sim->threads[handle]) +
				     t->interrupts_ns,
			.waited_ns = waited_ns(sim, &sim->threads[handle]),
			.handle = handle,
			.cpu = t->cpu,
			.io_waits = t->io_waits,
			.io_starts = t->io_starts,
			.last_io_ns = t->last_io_ns,
			.level_q = load.level_q,
			.in_flight_ns = t->in_flight_ns,
			.n_ios = 1,
			.ios = { {
				.device = t->device,
				.ios = t->ios,
			} },
		},
	};

	if (!t->has_slot)
		return;
	account_cpu(&load, now_ns);
	snprintf(input.task.comm, sizeof(input.task.comm), "sim-%u", handle);
	engine_apply(w->engine, &input);
	if (!io_task_find(engine_tasks(w->engine), input.task.pid))
		t->has_slot = false; /* the table is full */
}

static void apply_limit(struct sim *sim, uint32_t domain)
{
	struct wakegov_sim *w = sim->governor_data;
	struct input input = {
		.now_ns = sim->now_ns,
		.type = INPUT_LIMITS,
		.limits = {
			.domain = domain,
			.min_khz = sim->domains[domain].info->opps[0].khz,
			.max_khz = sim->domains[domain].limit_khz,
		},
	};

	engine_apply(w->engine, &input);
}

static void on_limit(struct sim *sim, uint32_t domain)
{
	apply_limit(sim, domain);
	wakegov_sim_run_at(sim, sim->now_ns + WAKEGOV_SIM_LATENCY_NS);
}

static void sample_due_task(void *userdata, const struct io_task *task, uint64_t now_ns)
{
	struct sim *sim = userdata;

	sample_task(sim, task->handle, now_ns);
}

static void sample_device(void *userdata, uint32_t i, uint64_t now_ns)
{
	struct sim *sim = userdata;
	struct wakegov_sim *w = sim->governor_data;
	struct input input = { .now_ns = now_ns, .type = INPUT_DEVICE };
	struct sim_device *device = &sim->devices[i];

	if (i >= sim->platform->n_devices)
		return;
	sim_device_account(sim, device);
	input.device = (struct input_device){
		.device = i,
		.completions = device->completions,
		.in_flight_ns = device->in_flight_ns,
		.depth = device->depth,
		.completion_cpu = w->completion_cpus[i],
	};
	engine_apply(w->engine, &input);
}

static void sample_domain(void *userdata, uint32_t domain, uint64_t now_ns)
{
	struct sim *sim = userdata;
	struct wakegov_sim *w = sim->governor_data;

	topology_for_each_cpu(w->topology, cpu, domain)
		sample_cpu(w, cpu, now_ns);
}

static void on_decision(void *userdata, const struct decision *decision)
{
	struct sim *sim = userdata;
	struct wakegov_sim *w = sim->governor_data;

	engine_commit(w->engine, decision->domain, ENGINE_SET);
	if (decision->target_khz != decision->previous_khz)
		sim_request_khz(sim, decision->domain, decision->target_khz);
	topology_for_each_cpu(w->topology, cpu, decision->domain) {
		struct wakegov_sim_cpu *c = &w->cpus[cpu];

		engine_band(w->engine, cpu, &c->band);
		c->armed_band = c->band.watch;
		c->armed_idle = c->band.watch_idle;
	}
}

static void release_task(void *userdata, uint32_t handle)
{
	struct sim *sim = userdata;
	struct wakegov_sim *w = sim->governor_data;

	w->tasks[handle].has_slot = false;
}

static void take_events(struct sim *sim)
{
	struct wakegov_sim *w = sim->governor_data;

	for (uint32_t i = 0; i < sim->n_threads; i++) {
		if (w->tasks[i].told)
			sample_task(sim, i, sim->now_ns);
		w->tasks[i].told = false;
	}
	for (uint32_t cpu = 0; cpu < sim->platform->n_cpus; cpu++) {
		if (w->cpus[cpu].told)
			engine_mark_due(w->engine, cpu);
		w->cpus[cpu].told = false;
	}
}

static void on_timer(struct sim *sim)
{
	static const struct engine_ops ops = {
		.sample_task = sample_due_task,
		.sample_device = sample_device,
		.sample_domain = sample_domain,
		.on_decision = on_decision,
		.release_task = release_task,
	};
	struct wakegov_sim *w = sim->governor_data;

	w->round_ns = UINT64_MAX;
	take_events(sim);
	engine_round(w->engine, &ops, sim, sim->now_ns);
	learn(sim, engine_learns(w->engine));
	/* The daemon's timer has a resolution of 1 µs and comes after the time. */
	if (engine_next_ns(w->engine) != UINT64_MAX)
		wakegov_sim_run_at(sim, (engine_next_ns(w->engine) / 1000 + 1) * 1000);
}

static struct topology *make_topology(const struct platform *platform)
{
	struct topology *topology =
		calloc(1, sizeof(*topology) + platform->n_domains * sizeof(topology->domains[0]));

	if (!topology)
		return NULL;
	topology->n_cpus = platform->n_cpus;
	topology->n_domains = platform->n_domains;
	for (uint32_t cpu = 0; cpu < platform->n_cpus; cpu++)
		topology->cpu_domain[cpu] = platform->cpu_domain[cpu];
	for (uint32_t i = 0; i < platform->n_domains; i++) {
		const struct platform_domain *from = &platform->domains[i];
		struct topology_domain *to = &topology->domains[i];

		snprintf(to->name, sizeof(to->name), "%s", from->name);
		to->first_cpu = __builtin_ctzll(from->cpus);
		to->n_opps = from->n_opps;
		to->capacity = from->capacity;
		to->transition_latency_ns = from->transition_latency_ns;
		for (uint32_t j = 0; j < from->n_opps; j++) {
			to->opp_khz[j] = from->opps[j].khz;
			to->opp_power[j] = platform_busy_uw(from, j);
		}
	}
	return topology;
}

static void stop(struct sim *sim)
{
	struct wakegov_sim *w = sim->governor_data;

	engine_free(w->engine);
	free(w->topology);
	free(w->tasks);
	free(w);
}

static void activate(struct sim *sim, uint32_t domain)
{
	struct wakegov_sim *w = sim->governor_data;
	struct input input = {
		.now_ns = sim->now_ns,
		.type = INPUT_DOMAIN,
		.domain = { .domain = domain, .active = true, .driven = true },
	};

	engine_apply(w->engine, &input);
	sim_for_each_cpu(sim, cpu, domain)
		w->cpus[cpu].load.capacity = sim->domains[domain].info->capacity;
	apply_limit(sim, domain);
	wakegov_sim_on_frequency(sim, domain);
}

static int start(struct sim *sim, const uint32_t *fixed_khz)
{
	struct wakegov_sim *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	sim->governor_data = w;
	w->recorder = sim->recorder;
	if (sim->policy)
		w->policy = *sim->policy;
	else
		policy_init(&w->policy);
	w->window_ios = io_boost_entry_ios(&w->policy.io_boost);
	w->round_ns = UINT64_MAX;
	w->tasks = calloc(sim->n_threads, sizeof(*w->tasks));
	w->topology = make_topology(sim->platform);
	if (w->tasks && w->topology)
		w->engine = engine_new(w->topology, &w->policy);
	if (!w->engine) {
		stop(sim);
		return -ENOMEM;
	}
	if (w->recorder)
		recorder_begin(w->recorder, w->engine, sim->now_ns);
	for (uint32_t domain = 0; domain < w->topology->n_domains; domain++)
		activate(sim, domain);
	wakegov_sim_run_at(sim, 0);
	return 0;
}

const struct sim_governor sim_governor_wakegov = {
	.name = "wakegov",
	.summary = "the daemon's own core",
	.start = start,
	.stop = stop,
	.on_switch = wakegov_sim_on_switch,
	.on_wake = wakegov_sim_on_wake,
	.on_move = wakegov_sim_on_move,
	.on_fork = wakegov_sim_on_fork,
	.on_exit = wakegov_sim_on_exit,
	.on_tick = wakegov_sim_on_tick,
	.on_io_start = wakegov_sim_on_io_start,
	.on_io_complete = wakegov_sim_on_io_complete,
	.on_frequency = wakegov_sim_on_frequency,
	.on_limit = on_limit,
	.on_timer = on_timer,
};
