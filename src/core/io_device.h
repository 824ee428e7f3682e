/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A block device: how much it does, how idle it is, and where its requests complete. */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"

#define IO_DEVICE_NO_DOMAIN UINT32_MAX

struct io_device {
	bool present;
	struct input_device totals;
	uint64_t sampled_ns;
	uint64_t next_ns; /* when it is to be sampled again; UINT64_MAX: when somebody asks */

	struct io_device_rates {
		struct input_device since; /* the sample that they begin with … */
		uint64_t since_ns;	   /* … and its time; 0: there is none */
		bool known;
		uint32_t completions_per_s;
		uint32_t idle_permille;
	} rates; /* as of when its requests were last followed */

	uint32_t n_users; /* tasks that do their I/O on it, at the last look */
	uint64_t ios;	  /* of those that were followed, so far */
	uint64_t edge_ns; /* a window of a group on it begins or ends then; UINT64_MAX: none */
	uint32_t completion_domain; /* where it completes, when that is steady */
	uint32_t n_completed_there; /* samples in a row */
};

void io_device_init(struct io_device *device);

/* Totals that went back are another device's, of the same index. */
static inline bool io_device_is_another(const struct io_device *device,
					const struct input_device *totals)
{
	return device->present && totals->completions < device->totals.completions;
}

/* New totals of this device. */
void io_device_sample(struct io_device *device, const struct input_device *totals,
		      uint32_t completion_domain, uint64_t now_ns);

/* Its rates, from the last two samples that are far enough apart. */
void io_device_take_rates(struct io_device *device);
/* What was counted meanwhile is not all: the next sample begins anew, the rates stay. */
void io_device_restart_rates(struct io_device *device);

/* Steady for long enough to act upon. */
static inline bool io_device_completes_in(const struct io_device *device, uint32_t domain)
{
	return device->completion_domain == domain && device->n_completed_there >= 4;
}
