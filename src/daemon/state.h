/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the daemon knows: each file of this folder does one thing with it. */

#include <stdint.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "actuator/backend_select.h"
#include "actuator/saved.h"
#include "actuator/uclamp_groups.h"
#include "actuator/uclamps.h"
#include "actuator/watch.h"
#include "config/load.h"
#include "core/decision_log.h"
#include "core/engine.h"
#include "daemon/account.h"
#include "daemon/archive.h"
#include "daemon/boost_news.h"
#include "daemon/message.h"
#include "daemon/stats.h"
#include "daemon/task_override_table.h"
#include "diag/conflicts.h"
#include "frequency/power.h"
#include "record/recorder.h"
#include "rules/grouped.h"
#include "rules/rules.h"
#include "tracer/tracer.h"
#include "varlink/server.h"

struct manager_options {
	const char *policy_path;    /* drop-ins lie in policy_path.d */
	bool policy_may_be_missing; /* all is built-in then, but for the drop-ins */
	const char *run_dir;	    /* saved values, lock and socket */
	const char *state_dir;	    /* what outlasts the boot; NULL: nothing does */
	bool observe;		    /* write nothing, whatever the policy says */
};

/* Clamps of cgroups: grouping.h. */
#define GROUPING_SEEN	  256
#define GROUPING_LEFT_MAX 64  /* with one more, the rule is given to no cgroup any more */
#define GROUPING_WHY_SIZE 384 /* of cap and floor */

struct grouping {
	bool active;	   /* a domain is driven by clamps */
	struct grouped by; /* rules that are given by group, but for those that are left out */
	bool regiven;	   /* what tasks carry may be other than what they should */
	struct grouping_seen {
		uint64_t cgroup_id;
		uint64_t matched;
	} seen[GROUPING_SEEN]; /* there is nothing to do for a task in it that matches these */
	struct grouping_left {
		uint32_t rule;
		enum uclamp_group_end end;
		uint64_t inode; /* of the cgroup's directory */
	} left[GROUPING_LEFT_MAX];
	uint32_t n_left;
	char why_not[POLICY_RULES_MAX][GROUPING_WHY_SIZE]; /* the first one of each was left out */
};

/* A domain and the lever that moves it. */
struct governed {
	struct actuator_domain actuator;
	const struct backend *backend;
	char passed_over[BACKEND_WHY_SIZE]; /* why `auto` did not take those before it; "" */
	int preference_outcome;		    /* of the last preference_set() */
	enum power_source power_source;	    /* of what is known of its OPPs' power */
	uint32_t others_min_khz; /* scaling_min_freq and max, as far as they are not ours */
	uint32_t others_max_khz;
	char governor_before[CONTROL_VALUE_SIZE]; /* before wakegov; "": not known */
	bool driver_chooses;			  /* under powersave as well */
	bool error_logged; /* a failing write is logged once, until one succeeds */
	char cpus[64];	   /* "0-1", for people */
};

/* Domains lent to another governor, for as long as the client of HandBack listens: hand_back.h. */
struct hand_back {
	struct channel channel;
	sd_event_source *timer;		   /* NULL: it was never asked for */
	uint64_t until_ns;		   /* 0: no domain is handed back */
	char governor[CONTROL_VALUE_SIZE]; /* "": that of before */
};

enum profile_why { PROFILE_BY_DEFAULT, PROFILE_BY_CONDITION, PROFILE_CHOSEN, PROFILE_HELD };

/* Which profile holds: profile.h. A name is "" where there is none. */
struct profile_choice {
	char name[POLICY_NAME_SIZE];
	enum profile_why why;
	char chosen[POLICY_NAME_SIZE];
	char held[POLICY_NAME_SIZE]; /* while the channel is heard */
	struct channel hold;
	sd_event_source *unheld;
	int power_fd; /* negative: no condition is about it; so the next */
	int clock_fd;
	uint32_t rules_met;
	uint64_t rules_looked_us;
	sd_event_source *rules_timer; /* NULL: no condition was about a rule's tasks so far */
};

/* hinting.h */
struct hinting {
	uint64_t end_ns;  /* when the first of them is over; UINT64_MAX: none ends */
	uint64_t save_ns; /* when they are written to their file; UINT64_MAX: it is up to date */
	bool unsaved;	  /* they could not be written: that was said */
	struct hint_hold *holds;
	sd_event_source *timer;
};

/* policy_hold.h */
struct policy_hold {
	struct channel channel;
	struct policy_files *original; /* what to go back to; NULL: no other one is in force */
	sd_event_source *unheld;
};

/* past.h */
struct past {
	struct archive *archive; /* NULL: decisions are not kept */
	bool is_counted;	 /* what is counted is kept */
	uint64_t saved_ns;
	int32_t day; /* of then */
	int32_t loaded[STATS_DAYS];
};

struct manager {
	struct manager_options options;
	char *dropin_dir;
	struct policy_files *policy_files; /* as last read */
	struct profile_choice profile;
	struct policy policy; /* under the profile that holds */
	int lock_fd;	      /* of the run directory */
	int machine_lock_fd;  /* negative: we change nothing */

	struct topology *topology;
	struct saved_values *saved;
	const struct rival *rivals[RIVALS_MAX]; /* others that move the same knobs, as last seen */
	uint32_t n_rivals;
	struct uclamps *clamps;	      /* of tasks */
	struct uclamp_groups *groups; /* of cgroups; NULL until the event loop is there */
	struct grouping grouping;
	struct governed *domains; /* topology->n_domains, of which n_domains are initialised */
	uint32_t n_domains;

	struct tracer *tracer;
	struct frequency *frequency;
	uint32_t base_khz; /* without turbo, as registers say; 0: not known */
	struct engine *engine;
	struct recorder *recorder; /* NULL while nothing is recorded */
	uint64_t recording_max_bytes;
	uint64_t recording_flushed_ns;
	struct decision_log *log;
	struct stats *stats;
	struct account *account;
	struct past past;
	struct policy_hold policy_hold;
	struct boost_news *boost_news; /* NULL while no client monitors boosts */

	struct override_table resumed; /* of domains, from the wakegovd before */
	struct task_overrides task_overrides;
	bool overrides_unsaved; /* they could not be written: that was said */
	struct rules *rules;
	struct hinting hinting;
	struct placing *placing;
	uint64_t scan_due_ns;			  /* UINT64_MAX: none is */
	uint64_t scanned_ns;			  /* all tasks, for the rules */
	uint64_t scan_drops;			  /* records lost until then */
	uint64_t crossed_rules[POLICY_RULES_MAX]; /* by cap: floors above it, as bits, that were
						     reported */

	sd_event *event;
	sd_event_source *timer;
	struct actuator_watch *watch;
	int hotplug_fd;
	struct query_server *server;
	struct channel monitor;	  /* events, to the clients of Monitor */
	struct channel recording; /* blocks, to the client of Record */
	struct hand_back hand_back;
	char *socket_path; /* NULL: not bound yet */

	uint64_t started_ns;
	uint64_t resynced_ns;	/* the requests in flight, with the kernel's numbers */
	uint32_t classes_epoch; /* of the clamp classes that the tracer knows */
	uint32_t classes_version;
	uint64_t wakeups; /* of the event loop */
	uint64_t records;
	uint32_t reloads;
	char *last_reload_error;
};

/* The index of the domain of that name; TOPOLOGY_NO_DOMAIN: there is none. */
static inline uint32_t manager_find_domain(const struct manager *manager, const char *name)
{
	for (uint32_t i = 0; i < manager->n_domains; i++)
		if (!strcmp(manager->topology->domains[i].name, name))
			return i;
	return TOPOLOGY_NO_DOMAIN;
}
