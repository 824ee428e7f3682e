/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the files of the manager share: life (manager.c), rounds (round.c), views (views.c). */

#include <stdint.h>
#include <systemd/sd-event.h>

#include "actuator/backend.h"
#include "actuator/saved.h"
#include "actuator/uclamp_groups.h"
#include "actuator/uclamps.h"
#include "actuator/watch.h"
#include "core/decision_log.h"
#include "core/engine.h"
#include "daemon/boost_news.h"
#include "daemon/grouping.h"
#include "daemon/manager.h"
#include "daemon/message.h"
#include "daemon/stats.h"
#include "daemon/task_override_table.h"
#include "diag/conflicts.h"
#include "record/recorder.h"
#include "rules/rules.h"
#include "tracer/tracer.h"
#include "varlink/server.h"

/* A domain and the lever that moves it. */
struct governed {
	struct actuator_domain actuator;
	const struct backend *backend;
	char passed_over[512];	 /* why `auto` did not take those before it; "" */
	int preference_outcome;	 /* of the last preference_set() */
	uint32_t others_min_khz; /* scaling_min_freq and max, as far as they are not ours */
	uint32_t others_max_khz;
	bool error_logged; /* a failing write is told once, until one succeeds */
	char cpus[64];	   /* "0-1", for people */
};

struct manager {
	struct manager_options options;
	char *dropin_dir;
	struct policy policy;
	int lock_fd;	     /* of the run directory */
	int machine_lock_fd; /* negative: we change nothing */

	struct topology *topology;
	struct originals *originals;
	const struct rival *rivals[RIVALS_MAX]; /* others that move the same knobs, as last seen */
	uint32_t n_rivals;
	struct uclamps *clamps;	      /* of tasks */
	struct uclamp_groups *groups; /* of cgroups; NULL until the event loop is there */
	sd_event_source *groups_source;
	struct grouping grouping;
	struct governed *domains; /* topology->n_domains, of which n_domains are initialised */
	uint32_t n_domains;

	struct tracer *tracer;
	struct frequency *frequency;
	uint32_t base_khz; /* without turbo, as registers say; 0: not known */
	struct engine *engine;
	struct recorder *recorder; /* NULL: nobody records */
	uint64_t recording_max_bytes;
	uint64_t recording_flushed_ns;
	struct decision_log *log;
	struct account *account;
	struct boost_news *boost_news; /* NULL while nobody listens */

	struct override_table resumed; /* of domains, from the wakegovd before */
	struct leases leases;
	sd_event_source *lease_timer;
	struct rules *rules;
	sd_event_source *scan_timer;
	uint64_t scanned_ns;			  /* all tasks, for the rules */
	uint64_t scan_drops;			  /* records lost until then */
	uint64_t crossed_rules[POLICY_RULES_MAX]; /* by cap: floors above it, as bits, that were
						     reported */

	sd_event *event;
	sd_event_source *timer;
	struct actuator_watch *watch;
	int hotplug_fd;
	struct query_source source;
	struct query_server *server;
	char *socket_path; /* NULL: not bound yet */

	uint64_t started_ns;
	uint64_t resynced_ns; /* the requests in flight, with the kernel's numbers */
	uint32_t sets_epoch;  /* of the clamp sets that the tracer knows */
	uint32_t sets_version;
	uint64_t wakeups; /* of the event loop */
	uint64_t records;
	uint32_t reloads;
	char *last_reload_error;
};

/* CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns(). */
uint64_t manager_now_ns(void);

/*
 * One round: leases end, due domains are decided and written, the kernel side is told what to
 * watch for, the timer is set to when a round is needed though nothing happens.
 */
void manager_round(struct manager *manager);

/* Reads scaling_min/max of a domain for the core. */
void manager_read_limits(struct manager *manager, uint32_t domain);

/* Looks whether a domain is still ours and online, and tells the core. */
void manager_verify_domain(struct manager *manager, uint32_t domain);

/* Takes one record of the tracer. */
void manager_take_event(void *userdata, const struct tracer_event *event);

/* A line for the journal, which monitors hear as well. about may be NULL. */
void manager_tell(struct manager *manager, enum message message, const struct message_about *about,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Tells the monitors what is new about the boosts of tasks. */
void manager_show_boosts(struct manager *manager);

/* Tells the monitors of a decision that was logged. */
void manager_show_decision(struct manager *manager, const struct decision_entry *entry);

/* conflicts.c: takes domains back that were left to another program; see query_source.adopt. */
int manager_adopt(void *userdata, const char *name, uint32_t *ret_adopted);

/* Looks anew who else moves the same knobs, and logs whom it has not seen before. */
void manager_find_rivals(struct manager *manager);

/* apply_task_clamps.c: gives tasks the clamps that the core wants them to have; their children lose
 * them. */
void manager_carry_clamps(struct manager *manager, uint64_t now_ns);
/* A task asks for clamps itself: own is wakegov/own.h, 0 and ended when it has exited. */
void manager_take_own_clamps(struct manager *manager, uint32_t pid, uint32_t own, bool ended,
			     uint64_t now_ns);
/* Looks at every task's: for news of them that was lost. */
void manager_check_clamps(struct manager *manager, uint64_t now_ns);
void manager_take_child(struct manager *manager, uint32_t parent, uint32_t child);

/* The callbacks of the query socket but for reload. */
void manager_fill_source(struct manager *manager);
