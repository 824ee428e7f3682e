/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The block devices that tasks use, and the groups of these tasks.
 *
 * A group has the tasks that do their I/O on one device, in domains of one kind, with a similar
 * prediction, and where clamps drive the domains, those that the kernel boosts or does not. One
 * experiment tests, by their own I/Os, whether a boost pays for them. Tasks whose waits are not for
 * block requests form a group per process, without a prediction.
 *
 * The results stay with the group after its tasks end, for later ones.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/experiment.h"
#include "core/input.h"
#include "core/io_boost.h"

#define IO_GROUPS_MAX 64

/* What a group's experiment tries. */
enum io_question {
	IO_QUESTION_OURS,
	IO_QUESTION_KERNELS, /* the boost that the kernel gives by itself */
	IO_QUESTION_RIVALS,  /* ours, together with those that take from it */
};

struct io_group {
	bool used;
	bool waits_for_io; /* the kernel boosts its tasks where their clamps drive a domain */
	enum io_question question;
	uint32_t device;      /* or IO_BOOST_NO_DEVICE */
	uint32_t tgid;	      /* process of the waits; 0: the group has a device */
	uint32_t kind;	      /* the first domain of the kind of its tasks' domains */
	uint32_t ratio;	      /* ρ of the mean of its tasks, with hysteresis; 0: not known */
	uint32_t depth_milli; /* of its first task: distinguishes a single reader from a deep queue
			       */
	uint32_t found_ratio; /* the ρ that corresponds to the gain found; 0: none */
	uint32_t n_tasks;
	uint32_t n_asked; /* tasks on its device at the time of the answer; 0: not known */
	uint64_t seen_ns; /* when it last had a task */
	uint64_t due_ns;  /* for a group without tasks: when its experiment would have been due */
	struct experiment_tally tally;
	struct experiment experiment;
};

/*
 * The ρ for decisions: the predicted one, or the one found if the two differ by more than a factor
 * of two.
 */
static inline uint32_t io_group_ratio(const struct io_group *group)
{
	uint64_t found = group->found_ratio, predicted = group->ratio;

	return found && (found > 2 * predicted || predicted > 2 * found) ? found : predicted;
}

static inline bool io_are_alike(uint32_t a, uint32_t b)
{
	return a <= 2ULL * b && b <= 2ULL * a;
}

/* A block device: how much it does, and where its requests complete. */

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
