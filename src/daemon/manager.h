/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The daemon's state. The manager owns every subsystem, and only it calls across them: tracer →
 * core → actuator, and all of them for the query socket.
 */

#include <stdint.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "actuator/backend.h"
#include "actuator/saved.h"
#include "actuator/uclamp_groups.h"
#include "actuator/uclamps.h"
#include "actuator/watch.h"
#include "config/load.h"
#include "core/decision.h"
#include "core/engine.h"
#include "daemon/api/boost_news.h"
#include "daemon/history/past.h"
#include "daemon/history/stats.h"
#include "daemon/modules/overrides.h"
#include "diag/conflicts.h"
#include "frequency/power.h"
#include "record/recorder.h"
#include "rules/rules.h"
#include "tracer/tracer.h"
#include "varlink/server.h"

struct manager_options {
	const char *policy_path;    /* drop-ins lie in policy_path.d */
	bool policy_may_be_missing; /* then the built-in policy and the drop-ins apply */
	const char *run_dir;	    /* saved values, lock and socket */
	const char *state_dir;	    /* for files that outlast the boot; NULL: none */
	bool observe;		    /* write nothing, whatever the policy says */
};

/* Clamps of cgroups: clamps.h. */
#define GROUPING_SEEN	  256
#define GROUPING_LEFT_MAX 64  /* with more, the rule is clamped by no cgroup */
#define GROUPING_WHY_SIZE 384 /* for cap and floor */

struct grouping {
	bool active;	   /* a domain is driven by clamps */
	struct grouped by; /* rules that are clamped by group, but for groups left out */
	bool reapply;	   /* clamps of tasks must be applied again */
	struct grouping_seen {
		uint64_t cgroup_id;
		uint64_t matched;
	} seen[GROUPING_SEEN]; /* groups done: nothing to do for a task in it that matches these
				  rules */
	struct grouping_left {
		uint32_t rule;
		enum uclamp_group_end end;
		uint64_t inode; /* of the cgroup's directory */
	} left[GROUPING_LEFT_MAX];
	uint32_t n_left;
	char why_not[POLICY_RULES_MAX][GROUPING_WHY_SIZE]; /* the reason for the first group of each
							      rule that was left out */
};

/* A domain and its backend. */
struct governed {
	struct actuator_domain actuator;
	const struct backend *backend;
	char passed_over[BACKEND_WHY_SIZE]; /* why `auto` passed over the backends before it; or ""
					     */
	int preference_outcome;		    /* of the last preference_set() */
	enum power_source power_source;	    /* source of its OPPs' power */
	uint32_t others_min_khz; /* limits of others in scaling_min_freq and scaling_max_freq */
	uint32_t others_max_khz;
	char governor_before[CONTROL_VALUE_SIZE]; /* before wakegov; "": not known */
	bool driver_chooses;			  /* the driver chooses, also under powersave */
	bool error_logged; /* a failing write is logged once until a write succeeds */
	char cpus[64];	   /* "0-1", for people */
};

/* Domains given to another governor while the client of HandBack listens: hand_back.h. */
struct hand_back {
	struct channel channel;
	sd_event_source *timer;		   /* NULL: never requested */
	uint64_t until_ns;		   /* 0: no domain is handed back */
	char governor[CONTROL_VALUE_SIZE]; /* "": the governor of before */
};

enum profile_why { PROFILE_BY_DEFAULT, PROFILE_BY_CONDITION, PROFILE_CHOSEN, PROFILE_HELD };

/* The profile in force: policy.h. A name is "" if there is none. */
struct profile_choice {
	char name[POLICY_NAME_SIZE];
	enum profile_why why;
	char chosen[POLICY_NAME_SIZE];
	char held[POLICY_NAME_SIZE]; /* while the channel has a listener */
	struct channel hold;
	sd_event_source *unheld;
	int power_fd; /* negative: no condition needs it; the same for the next */
	int clock_fd;
	uint32_t rules_met;
	uint64_t rules_looked_us;
	sd_event_source *rules_timer; /* NULL: no condition on a rule so far */
};

/* hinting.h */
struct hinting {
	uint64_t end_ns;  /* when the first hint ends; UINT64_MAX: none ends */
	uint64_t save_ns; /* when to save hints; UINT64_MAX: the file is up to date */
	bool unsaved;	  /* saving failed, which was logged */
	struct hint_hold *holds;
	sd_event_source *timer;
};

/* A client's policy: policy.h. */
struct policy_hold {
	struct channel channel;
	struct policy_files *original; /* policy to return to; NULL: no other one is in force */
	sd_event_source *unheld;
};

/* recording.h */
struct recording {
	struct channel channel;	   /* blocks, to the client of Record */
	struct recorder *recorder; /* NULL while nothing is recorded */
	uint64_t max_bytes;
	uint64_t flushed_ns;
};

/* past.h */
struct past {
	struct archive *archive; /* NULL: decisions are not kept */
	bool is_counted;	 /* what is counted is kept */
	bool is_unsaved;	 /* a target was changed since it was saved */
	uint64_t saved_ns;
	int32_t day; /* of then */
	int32_t loaded[STATS_DAYS];
};

struct manager {
	struct manager_options options;
	char *dropin_dir;
	struct policy_files *policy_files; /* as last read */
	struct profile_choice profile;
	struct policy policy; /* with the profile in force */
	int lock_fd;	      /* lock of the run directory */
	int machine_lock_fd;  /* negative: we change nothing on the machine */

	struct topology *topology;
	struct saved_values *saved;
	const struct conflict *conflicts[CONFLICTS_MAX]; /* other programs that change the same
						   controls, at the last check */
	uint32_t n_conflicts;
	struct uclamps *clamps;	      /* of tasks */
	uint64_t n_escapes;	      /* that were taken */
	uint64_t escaped_ns;	      /* when a task last set its clamps above its cap */
	uint64_t insists_until_ns;    /* a task does so again and again: see request_of() */
	struct uclamp_groups *groups; /* of cgroups; NULL until the event loop is there */
	struct grouping grouping;
	struct governed *domains; /* topology->n_domains, of which n_domains are initialised */
	uint32_t n_domains;

	struct tracer *tracer;
	struct frequency *frequency;
	uint32_t base_khz; /* without turbo, by registers; 0: not known */
	struct engine *engine;
	struct decision_log *log;
	struct stats *stats;
	struct account *account;
	struct past past;
	struct policy_hold policy_hold;
	struct boost_news *boost_news; /* NULL while no client monitors boosts */

	struct task_overrides task_overrides;
	bool overrides_unsaved; /* saving failed, which was logged */
	struct rules *rules;
	struct hinting hinting;
	struct placing *placing;
	struct idle_latency *idle_latency;
	uint64_t scan_due_ns;			  /* UINT64_MAX: no scan is due */
	uint64_t scanned_ns;			  /* last scan of all tasks */
	uint64_t looked_ns;			  /* last check for lost records */
	uint64_t scan_lost;			  /* tracer_lost_changes() then */
	uint64_t crossed_rules[POLICY_RULES_MAX]; /* by rule with the cap: rules with a floor above
						     it, as bits, that were reported */

	sd_event *event;
	sd_event_source *timer;
	struct actuator_watch *watch;
	int hotplug_fd;
	sd_event_source *newcomer_timer; /* NULL: no CPU has come that was not there at the start */
	uint32_t newcomer;		 /* the first of them */
	struct query_server *server;
	struct channel monitor; /* events, to the clients of Monitor */
	struct recording recording;
	struct hand_back hand_back;
	char *socket_path; /* NULL: not bound yet */

	uint64_t saturation_next_ns; /* saturation.h; 0: ticks are not counted */
	uint64_t started_ns;
	uint64_t resynced_ns; /* last comparison of requests in flight with the kernel's numbers */
	uint32_t classes_epoch; /* epoch of the clamp classes that the tracer has */
	uint32_t classes_version;
	uint64_t wakeups; /* of the event loop */
	uint64_t records;
	uint32_t reloads;
	char *last_reload_error;
};

/*
 * Reads the policy, takes the lock, restores what a crashed predecessor left, loads the tracer,
 * takes the domains and opens the socket. A failure is logged with the remedy, and everything taken
 * so far is released. Returns 0 or a negative errno.
 */
int manager_new(const struct manager_options *options, struct manager **ret);

/*
 * Governs until SIGTERM or SIGINT, or until a domain's driver is gone (-ENODEV). Returns 0 or a
 * negative errno.
 */
int manager_run(struct manager *manager);

/* Restores every domain, logs that, and frees everything. Returns NULL. */
struct manager *manager_free(struct manager *manager);

/*
 * startup.c: the steps in which the manager takes the machine over, in order. Each returns 0, or a
 * negative errno after logging the error and the remedy; manager_free() releases everything that
 * was taken.
 */
int startup_read_policy(struct manager *manager);
int startup_find_domains(struct manager *manager);
/*
 * Takes both locks below, that of the machine only if it has domains. A daemon that only observes
 * does without it while another daemon governs.
 */
int startup_lock(struct manager *manager);
/* Restores what a killed predecessor left, and opens the table of saved values. */
int startup_restore_predecessor(struct manager *manager);
int startup_discover(struct manager *manager);
int startup_start_tracer(struct manager *manager);
/* Acquires the domains; under `auto` a domain that cannot be driven is observed. */
int startup_acquire_domains(struct manager *manager);

/*
 * The user of a run directory holds the one lock, the process that changes the machine's
 * frequencies the other: two would undo each other's work. Returns a descriptor that holds the lock
 * until it is closed; -EBUSY if another wakegovd has it, logged (for the machine: at that level);
 * -ENOENT for a missing directory, or a machine that cannot be changed from here; or a negative
 * errno, logged.
 */
int startup_lock_run_dir(const char *run_dir);
int startup_lock_machine(int level);
