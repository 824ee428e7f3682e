/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A feature of the daemon is a module: a state, and hooks that the core calls at the moments below.
 * A module may call the core (this folder), the subsystems and the event loop, and no other module:
 * what two need belongs to the core. The rows are in manager.c; hooks are called in their order. A
 * hook that a module does not need is NULL.
 *
 * A state begins with a pointer to the core, which is set before any hook is called; all else is
 * zero until start().
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/core.h"

struct event;

enum scan_end {
	SCAN_DONE,
	SCAN_FAILED,	 /* the tasks cannot be listed */
	SCAN_NOT_NEEDED, /* no task can match */
};

struct module {
	const char *name;

	/* The life of the daemon. */

	/* The domains are ours. Returns 0, or a negative errno that ends the daemon's start. */
	int (*start)(void *state);
	/* No more decisions are made; we still drive the domains. start() may have failed. */
	void (*stop)(void *state);
	/* The domains are released: time to restore what the module changed. */
	void (*released)(void *state);
	/* The clients are disconnected, too. */
	void (*free)(void *state);

	/* The policy. */

	/* Another policy is put into effect: time to add rules. */
	void (*add_rules)(void *state, struct policy *policy);
	/* Other rules are in force; their tasks follow, by task_seen(). */
	void (*rules_changed)(void *state);

	/* Tasks, by the tracer's records and by scans. */

	/* These are the task's facts, and core->rules has what it matches. */
	void (*task_seen)(void *state, const struct task_facts *facts);
	/* A hint that gave it rules changed. */
	void (*task_rehinted)(void *state, uint32_t pid);
	void (*task_ended)(void *state, uint32_t pid);
	/* All tasks were seen since rules_changed(), or will not be. */
	void (*scan_ended)(void *state, enum scan_end end);
	/* After records or a scan, and the round for them: rules may have other tasks. */
	void (*tasks_changed)(void *state);

	/* The machine. */

	/* A record of the tracer that is no sample; most are for one module. */
	void (*on_event)(void *state, const struct wakegov_record *record, uint64_t now_ns);
	/* CPUs came or went. */
	void (*cpus_changed)(void *state);
	/* A domain gets one more OPP, above those it has. Returns 0, or -ENOMEM: it is left out. */
	int (*add_opp)(void *state, uint32_t domain);

	/* A round. */

	/* Before a round that the timer caused: something may be due. */
	void (*expire)(void *state, uint64_t now_ns);
	/* A CPU ran at this frequency since the last call, by its counters, idle time excluded. */
	void (*measured)(void *state, uint32_t cpu, uint32_t khz);
	/* A decision was made for a driven domain. */
	void (*decided)(void *state, const struct decision *decision);
	/* A decision changed its domain's target. */
	void (*target_changed)(void *state, const struct change *change);
	/* A domain has this target from now on; 0: it is not ours. */
	void (*target_set)(void *state, uint32_t domain, uint32_t khz, uint64_t now_ns);
	/* After the decisions. */
	void (*run)(void *state, uint64_t now_ns);
	/* Returns when it needs another round; UINT64_MAX: not before something happens. */
	uint64_t (*next_ns)(void *state, uint64_t now_ns);

	/* Whether it needs what is traced, also with no domain governed; a round follows a change.
	 */
	bool (*needs_tracer)(const void *state);

	/* Something is reported to people (journal.h). */
	void (*report)(void *state, const struct event *event);
};

struct module_instance {
	const struct module *module; /* NULL: the end of the rows */
	void *state;
};

#define modules_each(_core, _row) \
	for (const struct module_instance *_row = (_core)->modules; _row->module; _row++)

/* Calls a hook of all modules that have it. */
#define modules_call(_core, _hook, ...)                                          \
	do {                                                                     \
		modules_each(_core, _row)                                        \
			if (_row->module->_hook)                                 \
				_row->module->_hook(_row->state, ##__VA_ARGS__); \
	} while (0)
