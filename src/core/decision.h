/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The frequency at which a domain is to run, and why: the record that explain, status and replay
 * read; and what it rested on, kept so that it can be shown after the signals have changed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/experiment.h"
#include "core/input.h"
#include "core/io_boost.h"
#include "core/settings.h"

/* What won the merge over the domain's CPUs. */
enum reason {
	REASON_IDLE,	    /* nothing ran for the hold time */
	REASON_UTILISATION, /* headroom · utilisation of a CPU */
	REASON_IO_BOOST,    /* a task whose I/O a higher frequency speeds up */
	REASON_FLOOR,	    /* a task that a rule gives a floor */
	REASON_UNCAPPED,    /* a long-running task raised the effective cap above that of others */
	REASON_OWN_FLOOR,   /* an own floor of a task */
	REASON_CHAIN,	    /* headroom · utilisation of a chain of tasks that work in turn */
	REASON_LAST = REASON_CHAIN,
};

/* What limited the result. */
enum limiter {
	LIMITER_NONE,
	LIMITER_POLICY_MIN,
	LIMITER_POLICY_MAX,
	LIMITER_SCALING_MIN,
	LIMITER_SCALING_MAX,
	LIMITER_CAP,	   /* cap of a task, by a rule: core/clamp_class.h */
	LIMITER_OWN_CAP,   /* own cap of a task */
	LIMITER_GROUP_CAP, /* cap of a task by its cgroup */
	LIMITER_LAST = LIMITER_GROUP_CAP,
};

/* Whether the change is made at once. */
enum timing {
	TIMING_NOW,
	TIMING_HELD,	     /* a lower OPP is wanted, but not for long enough yet */
	TIMING_RATE_LIMITED, /* a higher OPP is wanted, but the last change was too recent */
};

struct decision {
	uint64_t now_ns;
	uint32_t domain;
	uint32_t previous_khz; /* the target before; 0: none yet */
	uint32_t target_khz;   /* an OPP */
	uint32_t wanted_khz;   /* the OPP without regard to the timing */
	uint32_t want_cap;     /* demand before clamps, 0…1024 and, with headroom, above */
	uint32_t cpu;	       /* CPU whose demand won */
	uint32_t pid; /* task whose boost or floor won, or that raised the effective cap; else 0 */
	char comm[TASK_COMM_SIZE];
	enum reason reason;
	enum limiter limiter;
	enum timing timing;
	uint32_t rule; /* index + 1 of the rule whose floor won or whose cap was the limit; 0: none
			*/
	uint32_t capped_pid; /* task whose cap was the limit; 0: none */
};

/* Names for people: idle, io-boost, scaling-max, held, … Static strings. */
extern const char *const reason_names[];
extern const char *const limiter_names[];
extern const char *const timing_names[];

#define EXPLANATION_CONTENDERS_MAX 6

/* One contender in the merge. */
struct contender {
	enum reason reason;
	uint32_t cap; /* headroom included: it may be more than 1024 */
	uint32_t cpu;
	uint32_t pid; /* task of the demand, else 0 */
	char comm[TASK_COMM_SIZE];
	uint32_t partner;	 /* of a chain: who works for the task, in turn with it … */
	uint32_t share_permille; /* … and the chain's utilisation, of a CPU */
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
	uint32_t min_override;	 /* the override that gave it; 0: the policy */
	uint32_t max_override;
	uint32_t scaling_min_khz;
	uint32_t scaling_max_khz;
	uint32_t lowest_khz; /* the lowest sufficient OPP; if it is below the wanted one, it is
				inefficient */
};

/* Adds a contender, unless it asks for nothing. */
void explanation_note(struct explanation *explanation, const struct contender *contender);
