/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The basis of a decision, kept with it so that it can be shown after the signals have changed
 * (engine_explanation() in core/engine.h).
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/decision.h"
#include "core/experiment.h"
#include "core/io_boost.h"
#include "core/override.h"
#include "core/settings.h"

#define EXPLANATION_CONTENDERS_MAX 6

/* One contender in the merge. */
struct contender {
	enum reason reason;
	uint32_t cap; /* headroom included: it may be more than 1024 */
	uint32_t cpu;
	uint32_t pid; /* task of the demand, else 0 */
	char comm[TASK_COMM_SIZE];
};

/* The I/O of the winner, if an I/O boost won. Shares as in core/io_model.h. */
struct explained_io {
	enum io_boost_state state;
	uint32_t device; /* or IO_BOOST_NO_DEVICE */
	uint32_t rate_per_s;
	uint32_t wanted_khz;
	uint32_t host_ppm; /* share of the time of an I/O that the host takes at the lowest OPP */
	uint32_t predicted_ppm; /* share of that time that wanted_khz saves over the lowest OPP */
	uint32_t tried;		/* pairs of windows with and without the boost; 0: none yet … */
	struct experiment_estimate found; /* … that found this gain */
};

/* The rule whose floor won or whose cap was the limit, as it was then. */
struct explained_rule {
	char name[POLICY_NAME_SIZE]; /* "": no rule */
	char file[POLICY_FILE_SIZE];
	uint32_t line;
	uint32_t pid; /* its task */
};

struct explanation {
	struct contender contenders[EXPLANATION_CONTENDERS_MAX]; /* the highest first */
	uint32_t n_contenders; /* all contenders, also those for which there is no room */
	bool has_io;
	struct explained_io io;
	struct explained_rule rule;
	uint32_t policy_min_khz; /* 0: none */
	uint32_t policy_max_khz; /* UINT32_MAX: none */
	struct override_limits override;
	uint32_t scaling_min_khz;
	uint32_t scaling_max_khz;
	uint32_t lowest_khz; /* the lowest sufficient OPP; if it is below the wanted one, it is
				inefficient */
};

/* Adds a contender, unless it asks for nothing. */
void explanation_note(struct explanation *explanation, const struct contender *contender);
