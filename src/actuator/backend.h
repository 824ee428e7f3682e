/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A backend is a lever: it makes a domain run at what was decided. Each offers the same steps:
 *
 *	acquire    can this lever move this domain? found out by trying, never by kernel version;
 *	           what it held goes to disk before the first write (actuator/saved.h)
 *	apply      ask for a frequency, and read back what the kernel says it runs at now
 *	verify     is the control still ours?
 *	release    put the saved values back, unless somebody else changed the control after us
 *
 * A domain that somebody else took over is theirs: it is `yielded`, its saved values are forgotten,
 * and apply and release leave it alone from then on.
 */

#include <stdbool.h>
#include <stdint.h>

#include "actuator/domain.h"

/* What happened, beside failure (negative errno). Expected outcomes are not errors. */
enum actuator_outcome {
	ACTUATOR_DONE = 0,
	ACTUATOR_UNCHANGED = 1,	 /* that is what was asked for already: nothing was written */
	ACTUATOR_TAKEN_OVER = 2, /* another program changed the control, and keeps it */
	ACTUATOR_OFFLINE = 3,	 /* every CPU of the domain is offline */
	ACTUATOR_UNVERIFIED = 4, /* the request is not ours, and who set it is not known yet */
};

/*
 * What a decision asks of a lever, in OPPs of the domain. setspeed takes the target. limits keeps
 * to what the domain's own governor needs to be told: the floor under it and the ceiling over it.
 * Of these, uclamp takes what is the domain's own; the rest its tasks carry.
 */
struct actuator_request {
	uint32_t target_khz; /* what the domain is to run at */
	uint32_t min_khz;    /* its own limits, of the policy and of overrides; 0: no minimum … */
	uint32_t max_khz;    /* … UINT32_MAX: no maximum */
	uint32_t floor_khz;  /* below which it must not fall: boosts and min_khz; 0: no floor */
	uint32_t effective_cap_khz; /* above which it must not rise: caps and max_khz; UINT32_MAX:
				       none */
};

struct backend {
	const char *name;
	bool writes; /* false: it only looks on */
	/*
	 * Between the limits the domain's own governor sets the frequency: the target is what is
	 * expected of it. The limits can change while the target stays, so apply is to be called
	 * for every decision.
	 */
	bool leaves_governor;
	bool clamps_tasks; /* floors, caps and boosts are given to the tasks */
	/*
	 * Takes the control of the domain: saves what it holds into domain->saved and to
	 * disk, then takes the lever. Returns ACTUATOR_DONE; ACTUATOR_OFFLINE (nothing changed, try
	 * again when a CPU comes online); or a negative errno with domain->why a sentence that
	 * says what is missing and what to do; then nothing is changed, on disk neither. -ENOSPC
	 * and the like when that could not be saved. -EOPNOTSUPP when this lever does
	 * not exist on this domain.
	 */
	int (*acquire)(struct actuator_domain *domain);
	/*
	 * Asks for what the request says, and fills domain->read_back_khz. Returns an
	 * actuator_outcome or a negative errno. On ACTUATOR_OFFLINE and on failure the request is
	 * forgotten, so that the next call writes again. On ACTUATOR_UNVERIFIED nothing was
	 * written; call again a rate limit later, when the watch has told of a writer if there is
	 * one.
	 */
	int (*apply)(struct actuator_domain *domain, const struct actuator_request *request);
	/*
	 * Checks that the control is still ours: the governor always; the value last asked for
	 * when actuator_watch saw somebody else write it. Call it when the watch or the hotplug
	 * socket tells, and after a resume. A domain that is back online is driven again, its
	 * request forgotten. Returns ACTUATOR_DONE, ACTUATOR_TAKEN_OVER, ACTUATOR_OFFLINE or a
	 * negative errno.
	 */
	int (*verify)(struct actuator_domain *domain);
	/*
	 * Puts the saved values back where the control is still ours, and forgets them. Per
	 * control: one that fails does not stop the rest, and stays in the file for `wakegovd
	 * --restore`. report (may be NULL) is told of each. Returns ACTUATOR_DONE, ACTUATOR_OFFLINE
	 * (to be restored when it is back: the file keeps it) or the first error. Harmless on a
	 * domain that is not held.
	 */
	int (*release)(struct actuator_domain *domain, restore_report_t report, void *userdata);
};

extern const struct backend backend_setspeed;
extern const struct backend backend_limits;
extern const struct backend backend_uclamp;
extern const struct backend backend_observe;
