/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What is learned of a block device: whether a faster clock makes it complete more. One device
 * that is pushed by several tasks is one question, so its tasks share the check and its result; a
 * task that moves to another domain takes the answer along.
 *
 * A second question is asked where the device's completions are handled in a domain that none of
 * these tasks runs in: whether that domain is to be boosted too.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"
#include "core/io_check.h"

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

	uint32_t n_users;    /* tasks that do their I/O on it, at the last look */
	uint32_t ratio;	     /* ρ of their mean, held; 0: none of them has one */
	uint32_t n_tasks;    /* that a boost may serve, at the last look */
	bool gains_little;   /* they are too small a part of what it does, for all of it to gain */
	uint32_t base_level; /* of these tasks before the last trial */
	uint32_t checked_users; /* n_users at the last result */
	uint64_t checked_ns;
	struct io_check check;

	uint32_t completion_domain; /* where it completes, when that is steady */
	uint32_t n_completed_there; /* samples in a row */
	uint32_t interrupt_domain;  /* the one that is checked or boosted besides */
	uint32_t interrupt_level;   /* of that domain before its trial */
	uint32_t interrupt_khz;	    /* what its boost is, or would be */
	struct io_check interrupt_check;
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

/*
 * ρ of one of its tasks to act upon. Tasks that do about the same share one, so that they do not
 * ask for a higher OPP in turns, each when its own happens to be high.
 */
uint32_t io_device_ratio_for(const struct io_device *device, uint32_t held_ratio);

/*
 * ρ of one of its tasks, corrected by what the check measured: s is scaled at the level at which
 * the check began.
 */
uint32_t io_device_calibrate(const struct io_device *device, uint32_t ratio);

/* Steady for long enough to act upon. */
static inline bool io_device_completes_in(const struct io_device *device, uint32_t domain)
{
	return device->completion_domain == domain && device->n_completed_there >= 4;
}
