// SPDX-License-Identifier: GPL-2.0-only
/* A device: when a request that is sent now will be done, and how long it was idle. */
#include <errno.h>
#include <stdlib.h>

#include "sim/sim_private.h"

#define NS_PER_S 1000000000ULL

int sim_device_init(struct sim_device *device, const struct platform_device *info, uint64_t seed,
		    uint32_t index)
{
	*device = (struct sim_device){ .info = info };
	sim_rng_init(&device->rng, seed, index + 1);
	device->channel_free_ns = calloc(info->channels, sizeof(*device->channel_free_ns));
	return device->channel_free_ns ? 0 : -ENOMEM;
}

void sim_device_deinit(struct sim_device *device)
{
	free(device->channel_free_ns);
	device->channel_free_ns = NULL;
}

void sim_device_account(struct sim *sim, struct sim_device *device)
{
	uint64_t passed_ns = sim->now_ns - device->since_ns;

	device->since_ns = sim->now_ns;
	device->in_flight_ns += passed_ns * device->depth;
	if (!device->depth)
		device->idle_ns += passed_ns;
}

/* At its highest rate a device takes one request per 1/rate; the division leaves no rest behind. */
static uint64_t accept(struct sim_device *device, uint64_t now_ns)
{
	uint64_t rate = device->info->max_rate_per_s, at_ns = now_ns;

	if (!rate)
		return now_ns;
	if (device->accept_ns > now_ns)
		at_ns = device->accept_ns;
	else
		device->accept_rest = 0;
	device->accept_rest += NS_PER_S;
	device->accept_ns = at_ns + device->accept_rest / rate;
	device->accept_rest %= rate;
	return at_ns;
}

/* A flush stops what has not started yet. */
static uint64_t after_flush(const struct platform_spell *flush, uint64_t at_ns)
{
	uint64_t into_ns;

	if (!flush->every_ns || at_ns < flush->every_ns)
		return at_ns;
	into_ns = at_ns % flush->every_ns;
	return into_ns < flush->for_ns ? at_ns + flush->for_ns - into_ns : at_ns;
}

/* When a request that is sent now is done. */
static uint64_t serve(struct sim *sim, struct sim_device *device)
{
	const struct platform_device *info = device->info;
	uint32_t channel = sim_rng_below(&device->rng, info->channels);
	uint64_t start_ns = accept(device, sim->now_ns);

	if (device->channel_free_ns[channel] > start_ns)
		start_ns = device->channel_free_ns[channel];
	start_ns = after_flush(&sim->workload->flush, start_ns);
	device->channel_free_ns[channel] = start_ns + sim_rng_around(&device->rng, info->service_ns,
								     info->variation_permille);
	return device->channel_free_ns[channel] + info->latency_ns;
}

static void end_idle(struct sim *sim, struct sim_device *device, struct sim_thread *thread)
{
	thread->host.idle_ns += sim->now_ns - device->idle_since_ns;
	thread->host.running_ns += sim_thread_on_cpu_ns(sim, thread) - thread->on_cpu_at_idle_ns;
}

static void begin_idle(struct sim *sim, struct sim_device *device)
{
	device->idle_since_ns = sim->now_ns;
	for (uint32_t i = 0; i < sim->n_threads; i++)
		if (&sim->devices[sim->threads[i].group->device] == device)
			sim->threads[i].on_cpu_at_idle_ns = sim_thread_on_cpu_ns(sim,
										 &sim->threads[i]);
}

void sim_device_submit(struct sim *sim, struct sim_device *device, uint32_t request, uint32_t cpu)
{
	sim_device_account(sim, device);
	if (!device->depth++)
		end_idle(sim, device, sim_sender(sim, request));
	/* Which CPU sent it is kept in the event, for the interrupt. */
	sim_add_event(sim, serve(sim, device), SIM_EVENT_COMPLETION, request, cpu);
}

void sim_device_complete(struct sim *sim, struct sim_device *device, struct sim_thread *thread)
{
	sim_device_account(sim, device);
	device->completions++;
	if (!--device->depth)
		begin_idle(sim, device);
}
