/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What the daemon shows: plain data that the manager fills in and src/varlink writes out as JSON,
 * so that neither knows the other's insides. Strings are borrowed: valid until the callback's
 * caller returns to the event loop.
 */

#include <stdbool.h>
#include <stdint.h>

/* A share or a gain that is not known. Gains are throughput, over what it is without. */
#define VIEW_UNKNOWN UINT32_MAX

/* One cpufreq policy domain. kHz throughout; 0 where a value is not known. */
struct domain_view {
	const char *name;      /* policyN */
	const char *cpus;      /* "0-1" */
	const char *state;     /* driven, observed, yielded, offline */
	const char *state_why; /* a sentence for yielded or offline, else NULL */
	const char *backend;   /* uclamp, setspeed, limits, observe */
	uint32_t current_khz;  /* read back from the kernel, now */
	uint32_t target_khz;   /* the last decision; 0: none, or it could not be asked for */
	uint32_t asked_min_khz; /* between what the domain is held now; 0: nothing is asked for … */
	uint32_t asked_max_khz; /* … or its governor is left alone. Equal: it is set */
	uint32_t min_khz;	/* effective limits: policy and scaling_min/max */
	uint32_t max_khz;
	uint32_t lowest_opp_khz;
	uint32_t highest_opp_khz;
	uint32_t utilisation_cap; /* of its busiest CPU, 0…1024 */
	const char *reason;	  /* what won: reason_name() of core/decision.h */
	const char *limiter;	  /* what cut it: limiter_name() */
	const char *timing;	  /* now, held, rate-limited */
	uint32_t pid;		  /* of the task that won, 0 if none did */
	const char *comm;	  /* may be in comm_now */
	char comm_now[16];
	uint64_t writes;
	uint64_t write_errors;
	uint64_t read_back_mismatches;
	const char *rule;    /* whose floor won, or whose cap it was cut to; NULL: none */
	uint32_t capped_pid; /* the task of that cap; 0: none */
};

/* A task that does I/O. Permille may be VIEW_UNKNOWN. */
struct task_view {
	uint32_t pid;  /* the thread's id */
	uint32_t tgid; /* its process */
	const char *comm;
	uint32_t cpu;
	const char *domain;
	const char *state;  /* measuring, device-busy, … as core/io_boost.h names them */
	const char *device; /* as in /sys/block; NULL for none */
	uint32_t io_rate_per_s;
	uint32_t host_share_permille;	  /* of the time of an I/O, as its domain runs now */
	uint32_t predicted_gain_permille; /* of wanted_khz over the lowest OPP of its domain */
	uint32_t measured_gain_permille;  /* as tried … */
	uint32_t gain_error_permille;	  /* … give or take this … */
	uint32_t pairs;			  /* … in so many pairs, with and without it */
	uint32_t wanted_khz;		  /* that its boost is, or would be; 0: none */
	uint32_t boost_cap;		  /* 0…1024, 0 while it is not boosted */
	uint64_t lease_left_us;
};

/* A block device that tasks use. Permille and completions_per_s may be VIEW_UNKNOWN. */
struct device_view {
	const char *name; /* as in /sys/block */
	uint32_t tasks;
	uint32_t depth; /* requests in flight */
	uint64_t completions;
	uint64_t idle_us;	    /* at depth 0, in all */
	uint32_t completions_per_s; /* since the daemon last looked … */
	uint32_t idle_permille;	    /* … as is this */
	uint32_t completion_cpu;
	const char *completion_domain; /* NULL: it has none */
	uint32_t boosted;	       /* tasks of it that have a boost now */
	uint32_t trying;	       /* for which it is being tried */
};

/* One decision of the ring of remembered ones. */
struct decision_view {
	uint64_t monotonic_us; /* CLOCK_MONOTONIC */
	const char *domain;
	uint32_t previous_khz;
	uint32_t target_khz;
	uint32_t read_back_khz;
	const char *reason;
	const char *limiter;
	uint32_t demand_cap; /* that won, headroom included */
	uint32_t cpu;	     /* whose demand won */
	uint32_t pid;
	const char *comm;
	const char *rule; /* as in a domain_view */
	uint32_t capped_pid;
};

/* A tracer program: what became of it. */
struct program_view {
	const char *name;    /* the tracepoint: sched_switch … */
	const char *purpose; /* what is missed without it */
	const char *state;   /* attached, unused, missing, failed */
	const char *error;   /* why it failed, else NULL */
	uint64_t events;     /* times it ran usefully */
};

struct status_view {
	const char *version;
	uint64_t uptime_us;
	const char *mode; /* governing, observing */
	const char *backend;
	const char *policy_path;
	uint32_t reloads;
	const char *last_reload_error; /* NULL after a good one */
	uint64_t decisions;
	uint32_t tasks; /* in the task table */
	uint32_t max_tasks;
	uint64_t drops_ring;	      /* records that found the ring buffer full */
	uint64_t drops_slots;	      /* tasks that found no slot or no storage */
	uint64_t drops_tasks;	      /* tasks that found the task table full */
	uint64_t drops_devices;	      /* requests to more devices than are followed */
	uint64_t drops_anomalies;     /* completions without a start, starts without a completion */
	uint64_t drops_missed;	      /* program runs that the kernel skipped (recursion) */
	const char *frequency_source; /* perf, msr, cppc or kernel */
	bool frequency_is_measured;
	uint64_t frequency_age_us; /* of the last measurement, if there was one */
	const char *frequency_why; /* a better source is not used; NULL: there is none */
	uint64_t self_cpu_us;	   /* user and system time of the daemon */
	uint64_t self_wakeups;	   /* of its event loop */
	uint64_t self_pss_kib;
	uint64_t events; /* records taken from the ring buffer */
};

/* How long a domain was told to run at one of its OPPs. */
struct opp_time_view {
	const char *domain;
	uint32_t khz;
	uint64_t ns;
};

/* What is counted under names. */
enum count_kind {
	COUNT_DECISIONS, /* changes of a target since the start, by the reason that won */
	COUNT_LIMITS,	 /* the same, by what cut them; "cap": one that held */
	COUNT_BOOSTS,	 /* tasks now, by what is thought of a boost for them */
};

/* What monitors are told of. The names are those of the interface. */
enum event_kind {
	EVENT_DECISION, /* a domain's target changed */
	EVENT_BOOST,	/* what is thought of a task's boost changed */
	EVENT_YIELD,	/* a domain was left to somebody else, went offline or came back */
	EVENT_ERROR,	/* something could not be done */
	EVENT_CHANGE,	/* somebody changed what the daemon does: policy, override, recording */
	EVENT_KINDS,
};

struct event_view {
	enum event_kind kind;
	uint64_t monotonic_us;
	const char *domain;		      /* NULL: of none */
	uint32_t pid;			      /* 0: of no task */
	const char *comm;		      /* NULL: of no task */
	const char *message;		      /* a sentence, or NULL */
	const struct decision_view *decision; /* of EVENT_DECISION, else NULL */
	const struct task_view *task;	      /* of EVENT_BOOST, else NULL */
	const char *previous_state;	      /* of its boost; NULL: it has just come */
};

/*
 * What somebody wants of a domain, a task or the tasks of a rule for a while. kHz: 0 is not given.
 * Levels are as in a policy, NULL: not given.
 */
struct override_view {
	uint32_t id;
	const char *domain; /* NULL: it is for … */
	uint32_t pid;	    /* … a task; 0: for … */
	const char *comm;
	const char *rule; /* … the tasks of a rule */
	bool children;	  /* of the task: also for what it starts */
	uint32_t min_khz; /* of a domain */
	uint32_t max_khz;
	uint32_t frozen_khz; /* the OPP at which it is kept */
	const char *floor;   /* of tasks */
	const char *cap;
	const char *io_boost;
	uint32_t uid; /* who asked for it */
	uint64_t left_us;
};

/* A call for one. Something of it is given, and one of domain, pid and rule. */
struct override_request {
	const char *domain;
	uint32_t pid;
	const char *rule;
	bool children;
	uint32_t min_khz; /* 0: not given */
	uint32_t max_khz;
	bool freeze; /* at its present OPP */
	const char *floor;
	const char *cap;
	const char *io_boost;
	const char *class;
	uint32_t uid;
	uint64_t for_us;
};

/* Which domain is to be explained, and as of when. One of the first three is given. */
struct explain_request {
	const char *domain;
	bool has_cpu;
	uint32_t cpu;
	uint32_t pid;	/* of a task that is followed: the domain where it runs */
	uint64_t at_us; /* CLOCK_MONOTONIC; 0: now */
};

#define EXPLAIN_CONTENDERS_MAX 6
#define EXPLAIN_CLAMPS_MAX     7
#define EXPLAIN_LIMITERS_MAX   6

/* Somebody who asked for something in the merge; the first won. */
struct contender_view {
	const char *reason;
	uint32_t cpu;
	uint32_t pid; /* 0: no task */
	const char *comm;
	uint32_t cap; /* headroom included: may be more than 1024 */
	uint32_t khz; /* what that is here, before clamps and not an OPP */
};

/* What was known of the I/O of the task that won. Permille may be VIEW_UNKNOWN. */
struct explained_io_view {
	const char *state;
	const char *device; /* NULL: none */
	uint32_t rate_per_s;
	uint32_t host_share_permille; /* of the time of an I/O at the lowest OPP */
	uint32_t predicted_gain_permille;
	uint32_t measured_gain_permille;
	uint32_t gain_error_permille;
	uint32_t pairs;
	uint32_t wanted_khz;
};

struct clamp_view {
	const char *by; /* as a limiter is named */
	uint32_t khz;
	uint32_t override; /* its number; 0: it is none */
	bool acted;	   /* it is what the result was cut to */
};

/* The rule whose floor won, or whose cap was the limit. */
struct explained_rule_view {
	const char *name;
	const char *file;
	uint32_t line;
	uint32_t pid; /* of the task that it is for */
};

/* Somebody else who has a say. */
struct limiter_view {
	const char
		*who; /* governor, firmware, thermal, scaling-max, scaling-min, boost-off, driver */
	const char *text;
};

struct explain_view {
	const struct domain_view *domain;
	bool is_present;     /* else as of a change that is remembered */
	uint64_t decided_us; /* CLOCK_MONOTONIC; 0: nothing was decided yet */
	const char *reason;  /* what won */
	const char *limiter;
	const char *timing;
	uint32_t demand_cap;
	uint32_t wanted_khz; /* the OPP that would be right without the timing */
	uint32_t target_khz;
	struct contender_view contenders[EXPLAIN_CONTENDERS_MAX];
	uint32_t n_contenders;			/* all, of whom the first are there */
	const struct explained_rule_view *rule; /* NULL: none did it */
	const struct explained_io_view *io;	/* NULL: no task's boost won */
	struct clamp_view clamps[EXPLAIN_CLAMPS_MAX];
	uint32_t n_clamps;
	const struct decision_view *acted; /* the last change of the target; NULL: not remembered */
	struct limiter_view limiters[EXPLAIN_LIMITERS_MAX]; /* of the present only */
	uint32_t n_limiters;
};

/* A rule of the policy. Texts as in the policy; NULL: not given. */
struct rule_view {
	const char *name;
	const char *file; /* the last part of its name */
	uint32_t line;
	const char *match;  /* "comm = fi*, user = joe" */
	const char *domain; /* NULL: all */
	const char *class;
	const char *cap;
	const char *floor;
	const char *io_boost;
	uint32_t tasks; /* that it matches now */
	uint64_t matches;
	bool by_cgroup;		 /* a cgroup carries its cap or floor as a whole */
	const char *by_task_why; /* why the first that could does not; NULL */
};

struct rules_view {
	uint32_t tasks; /* that match any */
	uint32_t max_tasks;
	uint64_t refused; /* times that there was no room for one */
};

/* A thread that a rule is for. */
struct matched_view {
	uint32_t pid;
	uint32_t tgid;
	uint32_t place; /* in the list: the next one is behind it */
};

/* A thread that is capped, and by what. */
struct capped_view {
	uint32_t pid;
	uint32_t tgid;
	const char *comm;
	const char *cap; /* as the rule says it */
	const char *rule;
	const char *file; /* as in a rule_view; "" for an override */
	uint32_t line;
	uint32_t place; /* as in a matched_view */
};

/* What one rule is for one task. */
struct task_rule_view {
	struct rule_view rule;
	bool matches;
	const char *why;
	bool uses_command; /* why tells of the task's command line */
	bool gives_cap;	   /* no rule before it does, in one domain at least */
	bool gives_floor;
	bool gives_io_boost;
};

struct ruled_task_view {
	uint32_t pid;
	uint32_t tgid;
	uint32_t uid;
	char comm[16];
};

/*
 * How src/varlink asks for data. Each returns 0 or a negative errno. The lists are handed out one
 * element at a time through emit; an emit that returns nonzero ends the list with that value.
 */
typedef int (*domain_emit_t)(void *context, const struct domain_view *view);
typedef int (*task_emit_t)(void *context, const struct task_view *view);
typedef int (*device_emit_t)(void *context, const struct device_view *view);
typedef int (*decision_emit_t)(void *context, const struct decision_view *view);
typedef int (*program_emit_t)(void *context, const struct program_view *view);
typedef int (*override_emit_t)(void *context, const struct override_view *view);
typedef int (*rule_emit_t)(void *context, const struct rule_view *view);
typedef int (*matched_emit_t)(void *context, const struct matched_view *view);
typedef int (*capped_emit_t)(void *context, const struct capped_view *view);
typedef int (*task_rule_emit_t)(void *context, const struct task_rule_view *view);
typedef int (*explain_emit_t)(void *context, const struct explain_view *view);
typedef int (*opp_time_emit_t)(void *context, const struct opp_time_view *view);
typedef int (*count_emit_t)(void *context, const char *name, uint64_t n);
typedef int (*advice_emit_t)(void *context, const char *sentence);

struct query_source {
	int (*status)(void *userdata, struct status_view *ret);
	int (*programs)(void *userdata, program_emit_t emit, void *context);
	int (*advice)(void *userdata, advice_emit_t emit, void *context);
	int (*domains)(void *userdata, domain_emit_t emit, void *context);
	int (*tasks)(void *userdata, task_emit_t emit, void *context);
	int (*devices)(void *userdata, device_emit_t emit, void *context);
	/* Oldest first; only those later than after_us (0: all). */
	int (*decisions)(void *userdata, uint64_t after_us, decision_emit_t emit, void *context);
	/* Those of one domain after another. */
	int (*opp_times)(void *userdata, opp_time_emit_t emit, void *context);
	int (*counts)(void *userdata, enum count_kind kind, count_emit_t emit, void *context);
	bool (*knows_domain)(void *userdata, const char *name);
	/* I/Os per second from which on a task is one of tasks(). */
	uint32_t (*io_min_rate)(void *userdata);
	/*
	 * Emits one. -ENOENT: there is no such domain; -ENODEV: the CPU is in none; -ESRCH: the
	 * task is not followed; -ENODATA: nothing is remembered of that time.
	 */
	int (*explain)(void *userdata, const struct explain_request *request, explain_emit_t emit,
		       void *context);
	int (*rules)(void *userdata, rule_emit_t emit, void *context);
	void (*count_rules)(void *userdata, struct rules_view *ret);
	/* From that place on. -ENOENT: the policy has no such rule. */
	int (*rule_tasks)(void *userdata, const char *rule, uint32_t from, matched_emit_t emit,
			  void *context);
	/* From that place on. */
	int (*capped_tasks)(void *userdata, uint32_t from, capped_emit_t emit, void *context);
	/* Sets *ret before it emits each rule. -ESRCH: there is no such thread. */
	int (*explain_rules)(void *userdata, uint32_t pid, struct ruled_task_view *ret,
			     task_rule_emit_t emit, void *context);
	int (*overrides)(void *userdata, override_emit_t emit, void *context);
	/*
	 * -ENODEV: there is no such domain; -ESRCH: no such task; -ENOENT: no such rule; -ENODATA:
	 * no such class; -ENOSPC: there are as many as can be, *ret_max; -EINVAL: the parameter
	 * *ret_wrong cannot be.
	 */
	int (*add_override)(void *userdata, const struct override_request *request,
			    uint32_t *ret_id, uint32_t *ret_max, const char **ret_wrong);
	/* -ENOENT: none has this number. */
	int (*cancel_override)(void *userdata, uint32_t id);
	/* domain NULL: all. -ENOENT: there is no such domain. */
	int (*adopt)(void *userdata, const char *domain, uint32_t *ret_adopted);
	/*
	 * Reads the policy again; warn gets each line that warns of something meanwhile. On failure
	 * returns a negative errno and an allocated message in *ret_message (file:line: what is
	 * wrong), which the caller frees; the old policy stays.
	 */
	int (*reload)(void *userdata, void (*warn)(void *context, const char *line), void *context,
		      char **ret_message);
	/* The blocks go to query_server_send_recording(); max_bytes 0: as the daemon thinks fit. */
	int (*record_start)(void *userdata, uint64_t max_bytes);
	void (*record_stop)(void *userdata);
	void *userdata;
};
