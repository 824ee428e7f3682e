/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Overrides: limits of a domain, or properties of a task or of the tasks of a rule, that a user has
 * given for a while, whatever the policy says. What they set are keys and values of the policy's
 * syntax, and they are part of the policy in force (core/settings.h): one of a domain is a section
 * [domain policyN] after all others, one of tasks a rule before all others, so that it behaves as
 * these do.
 *
 * An override ends at its time, with its task, when the policy no longer has its rule, or when it
 * is cancelled. It outlasts a restart of the daemon in DIRECTORY/overrides (shared/statefile.h):
 * each line has its end on CLOCK_MONOTONIC and the start of its task in nanoseconds, and the
 * override as the socket shows it.
 *
 *	5214000000000 0 {"id":3,"domain":"policy0",…,"settings":{"max-frequency":"1.2GHz"},…}
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/settings.h"
#include "daemon/module.h"
#include "varlink/call.h"

#define OVERRIDE_FILE	   "overrides"
#define OVERRIDE_COMM_SIZE 48 /* of 15 bytes, each of which may be shown as three */

struct override {
	char domain[DOMAIN_NAME_SIZE]; /* "": it is of a task or a rule … */
	struct policy_override target; /* … which is this one; also its id */
	json_t *settings;	       /* owned: values by the policy's keys */
	char comm[OVERRIDE_COMM_SIZE]; /* name of the task at first */
	uint32_t uid;		       /* user who asked for it */
	uint64_t end_ns;	       /* CLOCK_MONOTONIC */
	const char *ended;	       /* why it ends before; NULL: it holds */
};

struct overrides {
	struct core *core;
	struct override entries[POLICY_OVERRIDES_MAX]; /* by id, ascending */
	uint32_t n;
	bool unsaved; /* saving failed, which was logged */
	bool started; /* the table is that of the file, or newer */
};

#define OVERRIDE_TASK_GONE "its task ended"

#define overrides_each(_overrides, _one)                   \
	for (__auto_type _one = &(_overrides)->entries[0]; \
	     _one < (_overrides)->entries + (_overrides)->n; _one++)

/* override_table.c: the table in memory, in the policy, and in the file. */

/*
 * Reads what a call or a line of the file gives: one of domain, pid and rule, children, and
 * settings, to which it adds a reference. Returns NULL, or the name of what is wrong.
 */
const char *override_parse(const struct call *call, struct override *ret);

/* Writes the type Override of the socket, but left_us, as fields of the open object. */
void override_put_fields(struct json_out *out, const struct override *override);

/* The override or NULL. Borrowed until the table changes. */
struct override *overrides_find(struct overrides *overrides, uint32_t id);
void overrides_remove(struct overrides *overrides, struct override *override);
void overrides_clear(struct overrides *overrides);

/* How many there may be: of domains, or of tasks beside the rules of the policy. */
uint32_t overrides_room(const struct policy *policy, bool of_domain);

/*
 * Replaces the policy's overrides by those that have not ended, and marks those that end under it.
 * overrides is a struct overrides.
 */
void overrides_fill(void *overrides, struct policy *policy);

/*
 * Ends the overrides of a task that has ended; another start_ns means that another task has its
 * pid.
 */
void overrides_end_task(struct overrides *overrides, uint32_t pid, uint64_t start_ns);

/* Writes the table, or removes the file when it is empty. 0 or a negative errno. */
int overrides_save(const struct overrides *overrides, const char *directory);
/*
 * Fills an empty table with what has not ended at now_ns. Returns 0, also without a file, or a
 * negative errno as statefile_open() does, with the table empty.
 */
int overrides_load(struct overrides *overrides, const char *directory, uint64_t now_ns);

/* overrides.c: the module. */

extern const struct module overrides_module;

/*
 * Adds one, whose domain exists, for a time, and takes its settings. Returns 0, with its id set;
 * -ESRCH: no such task; -ENOENT: no such rule; -ENOSPC. On failure the settings are freed.
 */
int overrides_add(struct overrides *overrides, struct override *override, uint64_t for_us);

/* Ends an override. Returns 0, or -ENOENT: there is none with this id. */
int overrides_cancel(struct overrides *overrides, uint32_t id);
