// SPDX-License-Identifier: GPL-2.0-only
#include "core/io_device.h"
#include "shared/time.h"

#define LEAST_RATE_NS 10000000ULL /* rates over less say little */

void io_device_init(struct io_device *device)
{
	*device = (struct io_device){
		.next_ns = UINT64_MAX,
		.completion_domain = IO_DEVICE_NO_DOMAIN,
		.edge_ns = UINT64_MAX,
	};
}

void io_device_sample(struct io_device *device, const struct input_device *totals,
		      uint32_t completion_domain, uint64_t now_ns)
{
	bool moved = totals->completions != device->totals.completions;

	if (completion_domain != device->completion_domain) {
		device->completion_domain = completion_domain;
		device->n_completed_there = 0;
	} else if (moved) {
		device->n_completed_there++;
	}
	device->present = true;
	device->totals = *totals;
	device->sampled_ns = now_ns;
}

static void begin_rates(struct io_device *device)
{
	device->rates.since = device->totals;
	device->rates.since_ns = device->sampled_ns;
}

void io_device_update_rates(struct io_device *device)
{
	struct io_device_rates *rates = &device->rates;
	const struct input_device *now = &device->totals, *since = &rates->since;
	uint64_t elapsed_ns = device->sampled_ns - rates->since_ns, idle_ns;

	if (!rates->since_ns || now->completions < since->completions ||
	    now->idle_ns < since->idle_ns) {
		begin_rates(device);
		return;
	}
	if (elapsed_ns < LEAST_RATE_NS)
		return;
	idle_ns = now->idle_ns - since->idle_ns;
	rates->known = true;
	rates->completions_per_s = (now->completions - since->completions) * NS_PER_S / elapsed_ns;
	rates->idle_permille = idle_ns < elapsed_ns ? idle_ns * 1000 / elapsed_ns : 1000;
	begin_rates(device);
}

void io_device_restart_rates(struct io_device *device)
{
	device->rates.since_ns = 0;
}
