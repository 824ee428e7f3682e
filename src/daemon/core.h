/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What every part of the daemon may use: the policy in force, the machine with its domains, the
 * tracer and the engine, and the event loop. What belongs to one feature is in the state of its
 * module (daemon/module.h).
 */

#include <stdint.h>
#include <systemd/sd-event.h>

#include "actuator/backend.h"
#include "actuator/discovery.h"
#include "actuator/saved.h"
#include "actuator/watch.h"
#include "core/engine.h"
#include "core/settings.h"
#include "core/topology.h"
#include "diag/diag.h"
#include "frequency/frequency.h"
#include "rules/rules.h"
#include "tracer/tracer.h"
#include "varlink/server.h"

struct daemon_options {
	const char *policy_path;    /* drop-ins lie in policy_path.d */
	bool policy_may_be_missing; /* then the built-in policy and the drop-ins apply */
	const char *run_dir;	    /* saved values, lock and socket */
	const char *state_dir;	    /* for files that outlast the boot; NULL: none */
	bool observe;		    /* write nothing, whatever the policy says */
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
	uint64_t yield_said_ns; /* when the journal last named who took it over … */
	bool yield_said;	/* … and whether the last take-over was named */
	bool error_logged;	/* a failing write is logged once until a write succeeds */
	char cpus[256];		/* "0-1", for people */
	char siblings[256];	/* other domains' CPUs of the same core, in the same way */
};

static inline bool governed_is_driven(const struct governed *governed)
{
	return governed->actuator.state == ACTUATOR_STATE_DRIVEN;
}

/* Other programs that change the same controls, at the last check. */
struct conflicts_found {
	const char *names[CONFLICTS_MAX];
	uint32_t n;
};

/* rule_tracking.h */
struct rule_tracking {
	struct core *core;
	uint64_t scan_due_ns;		    /* UINT64_MAX: no scan is due */
	uint64_t children_due_ns;	    /* UINT64_MAX: no child waits to be reported */
	uint64_t scanned_ns;		    /* last scan of all tasks */
	uint64_t looked_ns;		    /* last check for lost records */
	bool scan_failed;		    /* the last one did, which was said */
	uint64_t scan_lost;		    /* tracer_lost_changes() then */
	uint64_t crossed[POLICY_RULES_MAX]; /* by rule with the cap: rules with a floor above it,
					       as bits, that were reported */
};

/* loop.h */
struct rounds {
	sd_event_source *timer;
	uint64_t checked_ns; /* when devices that are gone were last looked for */
};

struct core {
	const struct daemon_options *options;
	struct policy policy; /* with the profile in force, and rules of overrides and hints */

	struct topology *topology;
	struct governed *domains; /* topology->n_domains, of which n_domains are initialised */
	uint32_t n_domains;
	struct saved_values *saved;
	struct actuator_watch *watch;
	char scheduler[SCHED_EXT_NAME_SIZE]; /* of sched_ext, with all tasks; "": none */
	bool is_guided;			     /* amd_pstate_is_guided() */
	struct conflicts_found conflicts;
	struct frequency *frequency;
	uint32_t base_khz; /* without turbo, by registers; 0: not known */

	struct tracer *tracer;
	struct engine *engine;
	struct rules *rules;
	struct rule_tracking tracking;
	uint32_t classes_epoch;	       /* epoch of the clamp classes that the tracer has */
	uint64_t insists_until_ns;     /* a task defeats its clamp again and again: request_of() */
	uint64_t handed_back_until_ns; /* the domains have another governor; 0: they have not */
	bool withholds; /* no floor is written, to see how fast the CPUs are without (own_clock.c)
			 */
	bool rests;	/* … as nothing can be gained (own_clock.c), and not for a client */

	sd_event *event;
	struct rounds rounds;
	struct query_server *server;
	const struct module_instance *modules;
	struct core_counts {
		uint64_t started_ns;
		uint64_t start_cpu_us; /* that the start took, mostly of the verifier */
		uint64_t wakeups;      /* of the event loop */
		uint64_t records;      /* of the tracer */
	} counts;
};

/*
 * decision_line.c: a decision with all that varlink/engine_line.h writes of it. It is written when
 * a client asks for it, or when it is archived: few decisions are.
 */
struct change {
	struct decision decision;
	struct explanation rests_on;
	uint64_t realtime_us;
	uint32_t read_back_khz;	       /* 0: not known */
	char device[TRACER_DISK_SIZE]; /* of the I/O that won; "": not known */
};

/* The last decision for a domain. */
struct change change_of(const struct core *core, const struct decision *decision,
			uint32_t read_back_khz);
/*
 * NULL becomes null. ask_names: reads the names of tasks that are not known in /proc, for a user's
 * question.
 */
void change_put(struct json_out *out, const char *key, const struct core *core,
		const struct change *change, bool ask_names);
/* Returns the line, which the caller frees, or NULL without memory. */
char *change_line(const struct core *core, const struct change *change);

/* Whether a client has the domains, to compare with a machine without wakegov (hand_back.c). */
static inline bool core_is_lent(const struct core *core)
{
	return core->handed_back_until_ns && !core->rests;
}

/* Whether any domain is governed now. */
static inline bool core_drives_any(const struct core *core)
{
	for (uint32_t i = 0; i < core->n_domains; i++)
		if (governed_is_driven(&core->domains[i]))
			return true;
	return false;
}
