/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A cpufreq domain in the backends: its open controls and what was written to them. */

#include <stdbool.h>
#include <stdint.h>

#include "actuator/control.h"
#include "actuator/limits.h"
#include "actuator/saved.h"
#include "core/topology.h"

struct wakegov_limits;

/* Expected outcomes; failures are negative errno. */
enum actuator_outcome {
	ACTUATOR_DONE = 0,
	ACTUATOR_UNCHANGED = 1,	 /* the request is in force already: nothing was written */
	ACTUATOR_TAKEN_OVER = 2, /* another program changed the control; the domain is yielded */
	ACTUATOR_OFFLINE = 3,	 /* every CPU of the domain is offline */
	/*
	 * Nothing was written: the kernel holds a request that is not ours, and the watch has
	 * reported no writer yet; or schedutil has not seen the limit that is to be widened.
	 */
	ACTUATOR_NOT_YET = 4,
};

/*
 * What a decision requests from a backend, in OPPs of the domain. setspeed writes the target.
 * limits writes the floor as minimum and the effective cap as maximum around the domain's own
 * governor. uclamp writes the floor and the domain's own maximum; caps are clamps of tasks.
 */
struct actuator_request {
	uint32_t target_khz; /* the frequency at which the domain is to run */
	uint32_t min_khz; /* the domain's own limits, from the policy and overrides; 0: no minimum …
			   */
	uint32_t max_khz;   /* … UINT32_MAX: no maximum */
	uint32_t floor_khz; /* least frequency that boosts, floors and min_khz allow; 0: no floor */
	uint32_t effective_cap_khz; /* highest frequency that caps and max_khz allow; UINT32_MAX:
				       none */
	bool idle;		    /* no task runs there */
	bool at_once;		    /* wanted for a few ms from now … */
	uint32_t cpu;		    /* … by a task that runs, or will run, on this CPU of it */
};

enum actuator_state {
	ACTUATOR_STATE_RELEASED, /* not acquired, or released */
	ACTUATOR_STATE_OBSERVED, /* read only */
	ACTUATOR_STATE_DRIVEN,
	ACTUATOR_STATE_YIELDED,	    /* taken over by another program */
	ACTUATOR_STATE_OFFLINE,	    /* every CPU offline */
	ACTUATOR_STATE_HANDED_BACK, /* under another governor for a while: actuator/governor.h */
};

struct actuator_domain {
	const struct topology_domain *info; /* borrowed */
	struct saved_values *saved;	    /* borrowed; may be NULL with backend_observe */
	enum actuator_state state;
	char why[256];	   /* a sentence on a yielded or offline domain or a failure; else "" */
	char unsaved[256]; /* after acquire: the tunables that we cannot restore; else "" */
	char lent_to[CONTROL_VALUE_SIZE]; /* the governor, while handed back */
	/* While yielded: the control that another program changed, and our value there. */
	enum control taken_control;
	char taken_from_us[CONTROL_VALUE_SIZE];
	bool held;	      /* acquired by a backend that writes */
	unsigned int touched; /* bits 1 << enum control, set by actuator_watch, cleared by verify */
	bool unverified;      /* the last apply found a request that is not ours */
	/*
	 * Our request that the kernel holds; 0: not known, and the next apply writes. After a CPU
	 * of the domain went offline or came online, and after a resume, the governor has lost it.
	 */
	uint32_t asked_khz;
	uint32_t read_back_khz; /* after the last write of setspeed; 0: not known */
	bool has_sched_ext;	/* a scheduler of sched_ext had all tasks when it was acquired */
	bool measures;		/* scaling_cur_freq is a measurement, by cpuinfo_avg_freq */
	/*
	 * Reads the domain's limits and the requests behind them; fd is one of their files. NULL,
	 * or a function that changes nothing, leaves the values of the files, as in a fake tree.
	 */
	void (*read_limits)(void *userdata, int fd, struct wakegov_limits *ret);
	/* Announces the values that are written next to the two files. NULL: not called. */
	void (*expect_limits)(void *userdata, const struct actuator_domain *domain,
			      uint32_t min_khz, uint32_t max_khz);
	void *userdata;
	uint32_t hardware_max_khz; /* cpuinfo_max_freq, as last read */
	bool boost_switched;	   /* since the last verify: actuator_domain_see_boost() */
	struct range
		range; /* for limits, for floors under uclamp, and for setspeed on intel_cpufreq */
	uint64_t writes;
	uint64_t write_errors;
	uint64_t read_back_mismatches;
	int setspeed_fd; /* kept open for writing; −1 unless held */
	int cur_freq_fd;
	int governor_fd;
	int min_freq_fd;
	int max_freq_fd;
	int hardware_max_fd;
};

/* "released", "observed", "driven", "yielded", "offline", "handed-back" */
extern const char *const actuator_state_names[];

/*
 * Opens the controls for reading. info and saved are borrowed until deinit. Returns 0 or a negative
 * errno; then the struct is as after deinit.
 */
int actuator_domain_init(struct actuator_domain *domain, const struct topology_domain *info,
			 struct saved_values *saved);

/* Closes the descriptors. The backend's release restores the values. */
void actuator_domain_deinit(struct actuator_domain *domain);

/*
 * The present scaling_min_freq and scaling_max_freq without our own limits, but with thermal ones.
 * The kernel applies a new limit from a work queue, so the old one may still be read for a moment
 * after a write. Returns 0 or a negative errno, -EBUSY when the domain is offline.
 */
int actuator_domain_read_limits(struct actuator_domain *domain, uint32_t *ret_min_khz,
				uint32_t *ret_max_khz);

/*
 * The requests behind the two files, and everything else that read_limits gives. Returns 0 or a
 * negative errno, -EBUSY when the domain is offline.
 */
int actuator_domain_read_requests(struct actuator_domain *domain, struct wakegov_limits *ret);

/*
 * Returns whether turbo was switched, or the hardware's maximum changed otherwise, since the last
 * call. Call it before verify, as the kernel may have written a limit with the switch:
 * range_verify().
 */
bool actuator_domain_see_boost(struct actuator_domain *domain);

/*
 * Reads scaling_cur_freq. On x86 with APERF/MPERF that is a measurement since the last tick instead
 * of the driver's request, and need not be an OPP. Returns 0 or a negative errno; a frequency of 0:
 * the kernel does not know it.
 */
int actuator_domain_read_back(struct actuator_domain *domain, uint32_t *ret_khz);

/*
 * Whether the frequency read back is the driver's request. A measurement proves nothing, as it
 * covers the time before the last tick. Older kernels lack cpuinfo_avg_freq and do not say which of
 * the two they show, but a value between OPPs is never a request.
 */
bool actuator_domain_is_request(const struct actuator_domain *domain, uint32_t read_khz);

/*
 * For the backends. explain fills domain->why with a sentence and returns error. explain_file fills
 * it with the reason why a file cannot be used and the remedy.
 */
__attribute__((format(printf, 3, 4))) int actuator_domain_explain(struct actuator_domain *domain,
								  int error, const char *format,
								  ...);
int actuator_domain_explain_file(struct actuator_domain *domain, int error, const char *file);
/* Opens a control for writing. Returns a descriptor, or a negative errno, explained. */
int actuator_domain_open(struct actuator_domain *domain, enum control control);

/*
 * For the backends that set frequencies: 0, or -EOPNOTSUPP with domain->why when the domain has a
 * CPU without the scheduler's tick.
 */
int actuator_domain_refuse_tickless(struct actuator_domain *domain);

/* As saved_add(), with domain->why filled on failure. */
int actuator_domain_save(struct actuator_domain *domain, const struct saved_value *entries,
			 size_t n);

/* The end of acquire: the domain is held, and driven. Returns ACTUATOR_DONE. */
int actuator_domain_hold(struct actuator_domain *domain);

void actuator_domain_mark_driven(struct actuator_domain *domain);

/* Returns ACTUATOR_OFFLINE. */
int actuator_domain_mark_offline(struct actuator_domain *domain);

/* Drops the request and closes files open for writing; restores nothing. */
void actuator_domain_drop(struct actuator_domain *domain);

/*
 * Another program set a control of the domain from `ours` to value: drops the domain, which is then
 * yielded, and restores its other controls. The saved value of this one stays, as the program may
 * restore what it found. Returns ACTUATOR_TAKEN_OVER.
 */
int actuator_domain_yield(struct actuator_domain *domain, enum control control, const char *value,
			  const char *ours);

/* Whether a yielded domain's control has our value again. */
bool actuator_domain_is_back(struct actuator_domain *domain);

/* The outcome for a domain that we do not drive. */
int actuator_domain_outcome_unheld(const struct actuator_domain *domain);
