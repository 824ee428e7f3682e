/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One cpufreq policy domain as the backends hold it: its open controls, and what we did to it. */

#include <stdbool.h>
#include <stdint.h>

#include "actuator/control.h"
#include "actuator/range.h"
#include "actuator/restore.h"
#include "core/topology.h"

struct saved_values;

enum actuator_state {
	ACTUATOR_STATE_RELEASED, /* not taken, or given back */
	ACTUATOR_STATE_OBSERVED, /* read only */
	ACTUATOR_STATE_DRIVEN,
	ACTUATOR_STATE_YIELDED,	    /* somebody else's */
	ACTUATOR_STATE_OFFLINE,	    /* every CPU offline */
	ACTUATOR_STATE_HANDED_BACK, /* lent to another governor: actuator/hand_back.h */
};

struct actuator_domain {
	const struct topology_domain *info; /* borrowed */
	struct saved_values *saved;	    /* borrowed; may be NULL with backend_observe */
	enum actuator_state state;
	char why[256];	   /* a sentence for yielded, offline and failures; else empty */
	char unsaved[256]; /* after acquire: words on tunables that we cannot restore; else "" */
	char lent_to[CONTROL_VALUE_SIZE]; /* the governor, while handed back */
	bool held;			  /* acquired by a backend that writes */
	unsigned int touched; /* bits 1 << enum control, set by actuator_watch, cleared by verify */
	bool unverified;      /* the last apply found a request that was not ours */
	uint32_t asked_khz;   /* the request that the kernel holds; 0: not known */
	uint32_t read_back_khz; /* after the last apply; 0: none yet */
	bool unchecked;		/* what the last write brought was not looked at yet */
	struct range range;	/* of limits, and of setspeed where a request is a floor only */
	uint64_t writes;
	uint64_t write_errors;
	uint64_t read_back_mismatches;
	int setspeed_fd; /* kept open for writing; −1 unless held */
	int cur_freq_fd;
	int governor_fd;
	int min_freq_fd;
	int max_freq_fd;
};

/* "released", "observed", "driven", "yielded", "offline", "handed-back" */
const char *actuator_state_name(enum actuator_state state);

/*
 * Opens what is read, read-only. info and saved are borrowed until deinit. Returns 0 or a
 * negative errno; then the struct is as after deinit.
 */
int actuator_domain_init(struct actuator_domain *domain, const struct topology_domain *info,
			 struct saved_values *saved);

/* Closes the descriptors. Restores nothing: that is the backend's release. */
void actuator_domain_deinit(struct actuator_domain *domain);

/*
 * scaling_min_freq and scaling_max_freq as they are now, thermal limits included, our own taken
 * off. The kernel applies a new limit from a work queue, so just after somebody wrote one this can
 * still be the old. Returns 0 or a negative errno, -EBUSY when the domain is offline.
 */
int actuator_domain_read_limits(struct actuator_domain *domain, uint32_t *ret_min_khz,
				uint32_t *ret_max_khz);

/*
 * scaling_cur_freq. On x86 with APERF/MPERF this is a measurement since the last tick and not what
 * the driver was told, so it need not be an OPP. Returns 0 or a negative errno.
 */
int actuator_domain_read_back(struct actuator_domain *domain, uint32_t *ret_khz);

/*
 * Forgets the request, so that the next apply writes. For a CPU of the domain that went offline or
 * came online, and after a resume: the governor restarts and loses it.
 */
void actuator_domain_forget_request(struct actuator_domain *domain);

/*
 * For the backends. explain fills domain->why with a sentence and returns error; explain_file says
 * that one of the files cannot be used, and what to do about it.
 */
__attribute__((format(printf, 3, 4))) int actuator_domain_explain(struct actuator_domain *domain,
								  int error, const char *format,
								  ...);
int actuator_domain_explain_file(struct actuator_domain *domain, int error, const char *file);

void actuator_domain_mark_driven(struct actuator_domain *domain);

/* Returns ACTUATOR_OFFLINE. */
int actuator_domain_mark_offline(struct actuator_domain *domain);

/* Not held any more: nothing is open for writing, asked for or touched. */
void actuator_domain_let_go(struct actuator_domain *domain);

/* Lets go, and puts the saved values back. Returns what struct backend's release does. */
int actuator_domain_release(struct actuator_domain *domain, restore_report_t report,
			    void *userdata);

/*
 * After let_go: the domain is somebody else's from now on, who set control to value; error is that
 * of putting back or forgetting the rest. Returns ACTUATOR_TAKEN_OVER.
 */
int actuator_domain_yield(struct actuator_domain *domain, const char *control, const char *value,
			  int error);

/* What there is to answer for a domain that is not ours to drive. */
int actuator_domain_outcome_unheld(const struct actuator_domain *domain);
