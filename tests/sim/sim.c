// SPDX-License-Identifier: GPL-2.0-only
/* One run: set up, and event after event handed to the part that it is for. */
#include "sim/sim.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/governor.h"
#include "sim/sim_private.h"

#define START_SPREAD_NS 1000000ULL
#define AT_ONCE_MOST	1000000 /* events at one time: more are a loop in the model */

void sim_add_event(struct sim *sim, uint64_t at_ns, enum sim_event_type type, uint32_t index,
		   uint64_t generation)
{
	struct sim_event event = {
		.at_ns = at_ns,
		.type = type,
		.index = index,
		.generation = generation,
	};
	int r = sim_events_add(&sim->events, event);

	if (r < 0)
		sim->error = r;
}

void sim_set_timer(struct sim *sim, uint64_t at_ns)
{
	sim->governor_generation++;
	if (at_ns == UINT64_MAX)
		return;
	if (at_ns < sim->now_ns)
		at_ns = sim->now_ns;
	sim_add_event(sim, at_ns, SIM_EVENT_GOVERNOR, 0, sim->governor_generation);
}

static uint32_t count_requests(const struct workload *workload)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < workload->n_groups; i++)
		n += workload->groups[i].threads * workload->groups[i].depth;
	return n;
}

static int init_machine(struct sim *sim, uint64_t seed)
{
	const struct platform *platform = sim->platform;
	uint32_t n_requests = count_requests(sim->workload);
	int r = 0;

	for (uint32_t i = 0; i < platform->n_domains; i++)
		sim_domain_init(&sim->domains[i], &platform->domains[i]);
	for (uint32_t i = 0; i < platform->n_cpus; i++) {
		sim_cpu_init(&sim->cpus[i], i, platform->cpu_domain[i]);
		sim->cpus[i].size = n_requests + 1;
		sim->cpus[i].interrupts = calloc(sim->cpus[i].size,
						 sizeof(*sim->cpus[i].interrupts));
		if (!sim->cpus[i].interrupts)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < platform->n_devices && r == 0; i++)
		r = sim_device_init(&sim->devices[i], &platform->devices[i], seed, i);
	return r;
}

static int init_threads(struct sim *sim)
{
	const struct workload *workload = sim->workload;
	uint32_t n = 0;

	for (uint32_t i = 0; i < workload->n_groups; i++)
		n += workload->groups[i].threads;
	sim->threads = calloc(n, sizeof(*sim->threads));
	if (!sim->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < workload->n_groups; i++) {
		uint32_t first = sim->n_threads;

		for (uint32_t j = 0; j < workload->groups[i].threads; j++) {
			uint32_t to = workload->groups[i].engine == WORKLOAD_FORK
					      ? 0
					      : (j + 1) % workload->groups[i].threads;

			sim->threads[sim->n_threads].index = sim->n_threads;
			sim->threads[sim->n_threads].successor = &sim->threads[first + to];
			sim_thread_init(sim, &sim->threads[sim->n_threads++], &workload->groups[i],
					j == 0);
		}
	}
	sim_place_all(sim);
	return 0;
}

/* Spread over a millisecond, so that equal threads do not go in step. */
static void add_first_events(struct sim *sim)
{
	const struct platform_spell *thermal = &sim->workload->thermal;

	for (uint32_t i = 0; i < sim->n_threads; i++)
		if (!sim_thread_is_child(&sim->threads[i]))
			sim_add_event(sim, sim_rng_below(&sim->rng, START_SPREAD_NS),
				      SIM_EVENT_WAKE, i, 0);
	if (thermal->every_ns)
		sim_add_event(sim, thermal->every_ns, SIM_EVENT_THERMAL_ON, 0, 0);
}

static int set_up(struct sim *sim, const uint32_t *fixed_khz, uint64_t seed)
{
	int r;

	sim_rng_init(&sim->rng, seed, 0);
	r = init_machine(sim, seed);
	if (r == 0)
		r = init_threads(sim);
	if (r < 0)
		return r;
	r = sim->governor->start(sim, fixed_khz);
	if (r < 0) {
		sim->governor = NULL;
		return r;
	}
	add_first_events(sim);
	return sim->error;
}

int sim_new(const struct platform *platform, const struct workload *workload,
	    const struct sim_governor *governor, const uint32_t *fixed_khz, uint64_t seed,
	    struct recorder *recorder, const struct policy *policy, struct sim **ret)
{
	struct sim *sim = calloc(1, sizeof(*sim));
	int r;

	if (!sim)
		return -ENOMEM;
	sim->platform = platform;
	sim->workload = workload;
	sim->governor = governor;
	sim->recorder = recorder;
	sim->policy = policy;
	r = set_up(sim, fixed_khz, seed);
	if (r < 0) {
		sim_free(sim);
		return r;
	}
	*ret = sim;
	return 0;
}

struct sim *sim_free(struct sim *sim)
{
	if (!sim)
		return NULL;
	if (sim->governor && sim->governor->stop)
		sim->governor->stop(sim);
	for (uint32_t i = 0; i < PLATFORM_CPUS_MAX; i++)
		free(sim->cpus[i].interrupts);
	for (uint32_t i = 0; i < PLATFORM_DEVICES_MAX; i++)
		sim_device_deinit(&sim->devices[i]);
	sim_events_deinit(&sim->events);
	free(sim->threads);
	free(sim);
	return NULL;
}

static void take_completion(struct sim *sim, uint32_t request, uint32_t cpu)
{
	struct sim_thread *thread = sim_sender(sim, request);
	struct sim_device *device = &sim->devices[thread->group->device];

	if (device->info->interrupt_cpu != PLATFORM_SUBMITTER)
		cpu = device->info->interrupt_cpu;
	sim_device_complete(sim, device, thread);
	sim_cpu_interrupt(sim, &sim->cpus[cpu], request);
}

static void switch_thermal(struct sim *sim, bool on)
{
	const struct platform_spell *thermal = &sim->workload->thermal;
	uint64_t next_ns = on ? thermal->for_ns : thermal->every_ns - thermal->for_ns;

	for (uint32_t i = 0; i < sim->platform->n_domains; i++)
		sim_domain_limit(sim, i, on ? sim->workload->thermal_percent : 100);
	sim_add_event(sim, sim->now_ns + next_ns, on ? SIM_EVENT_THERMAL_OFF : SIM_EVENT_THERMAL_ON,
		      0, 0);
}

static void handle(struct sim *sim, const struct sim_event *event)
{
	switch (event->type) {
	case SIM_EVENT_CPU:
		sim_cpu_on_event(sim, &sim->cpus[event->index], event->generation);
		break;
	case SIM_EVENT_TICK:
		sim_cpu_on_tick(sim, &sim->cpus[event->index]);
		break;
	case SIM_EVENT_COMPLETION:
		take_completion(sim, event->index, event->generation);
		break;
	case SIM_EVENT_WAKE:
		sim_thread_on_event(sim, &sim->threads[event->index], event->generation);
		break;
	case SIM_EVENT_FREQUENCY:
		sim_domain_on_event(sim, event->index);
		break;
	case SIM_EVENT_THERMAL_ON:
	case SIM_EVENT_THERMAL_OFF:
		switch_thermal(sim, event->type == SIM_EVENT_THERMAL_ON);
		break;
	case SIM_EVENT_GOVERNOR:
		if (event->generation == sim->governor_generation)
			sim_tell(sim, on_timer);
		break;
	}
}

static void account_all(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->platform->n_cpus; i++)
		sim_cpu_account(sim, &sim->cpus[i]);
	for (uint32_t i = 0; i < sim->platform->n_domains; i++)
		sim_domain_account(sim, &sim->domains[i]);
	for (uint32_t i = 0; i < sim->platform->n_devices; i++)
		sim_device_account(sim, &sim->devices[i]);
}

int sim_run(struct sim *sim, uint64_t end_ns)
{
	struct sim_event event;
	uint32_t n_at_once = 0;

	while (!sim->error && sim->events.n && sim->events.heap[0].at_ns <= end_ns) {
		sim_events_take(&sim->events, &event);
		n_at_once = event.at_ns == sim->now_ns ? n_at_once + 1 : 0;
		if (n_at_once > AT_ONCE_MOST)
			sim->error = -ELOOP;
		sim->now_ns = event.at_ns;
		handle(sim, &event);
	}
	sim->now_ns = end_ns;
	account_all(sim);
	return sim->error;
}
