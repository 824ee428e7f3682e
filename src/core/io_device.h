/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A block device: how much it does, and where its requests complete. */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"

#define IO_DEVICE_NO_DOMAIN UINT32_MAX

struct io_device {
	bool present;
	struct input_device totals;
	uint64_t sampled_ns;
	uint64_t next_ns; /* next sample; UINT64_MAX: on request */

	struct io_device_rates {
		struct input_device since; /* the sample from which they are computed … */
		uint64_t since_ns;	   /* … and its time; 0: none */
		bool known;
		uint32_t completions_per_s;
		uint32_t depth_milli; /* mean requests in flight, in thousandths */
	} rates;

	uint32_t n_users; /* number of tasks that use it, at the last count */
	uint64_t ios;	  /* requests of followed tasks so far */
	uint64_t edge_ns; /* start or end of a window of a group on it; UINT64_MAX: none */
	uint32_t completion_domain; /* domain of its completions, if steady */
	uint32_t n_completed_there; /* samples in a row */
};

void io_device_init(struct io_device *device);

/* Takes a sample of the device, from which its rates are computed. */
void io_device_sample(struct io_device *device, const struct input_device *totals,
		      uint32_t completion_domain, uint64_t now_ns);
