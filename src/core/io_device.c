// SPDX-License-Identifier: GPL-2.0-only
/* A block device's rates: requests in flight, reads and writes a second. */
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

/* Rates from the last sample that is far enough back. */
static void update_rates(struct io_device *device)
{
	struct io_device_rates *rates = &device->rates;
	const struct input_device *now = &device->totals, *since = &rates->since;
	uint64_t elapsed_ns = device->sampled_ns - rates->since_ns;

	if (rates->since_ns && now->completions >= since->completions &&
	    now->in_flight_ns >= since->in_flight_ns) {
		if (elapsed_ns < LEAST_RATE_NS)
			return;
		rates->known = true;
		rates->completions_per_s = (now->completions - since->completions) * NS_PER_S /
					   elapsed_ns;
		rates->depth_milli = (now->in_flight_ns - since->in_flight_ns) * 1000 / elapsed_ns;
	}
	rates->since = *now;
	rates->since_ns = device->sampled_ns;
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
	update_rates(device);
}
