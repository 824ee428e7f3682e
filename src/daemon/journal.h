/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The daemon's messages. Programs may look for them in the journal: each has a message id, which
 * `journalctl -x` explains from systemd/wakegov.catalog, and fields for its subject:
 *
 *	MESSAGE_ID       as in journal.c, the catalog and wakegovd(8)
 *	WAKEGOV_DOMAIN   policyN
 *	WAKEGOV_PID, WAKEGOV_TASK
 *	WAKEGOV_REASON   why, in a word: what won a decision, or the errno's name for a failure
 *
 * If standard error is not the journal, it gets the line alone. Lines of the start are plain
 * shared/log.h.
 */

#include "actuator/saved.h"
#include "core/decision.h"
#include "core/task_table.h"

struct core;

enum message {
	MESSAGE_GOVERNING,	/* the daemon is up */
	MESSAGE_OBSERVED,	/* a domain is observed only, or not at all */
	MESSAGE_YIELDED,	/* a domain was yielded to another program */
	MESSAGE_OFFLINE,	/* a domain's CPUs are offline */
	MESSAGE_ONLINE,		/* a domain's CPUs are online again */
	MESSAGE_WRITE_FAILED,	/* a domain's frequency cannot be set */
	MESSAGE_POLICY_READ,	/* the policy was read again */
	MESSAGE_POLICY_REFUSED, /* the policy has an error; the old one stays */
	MESSAGE_RESTORED,	/* a control was restored */
	MESSAGE_RESTORE_FAILED,
	MESSAGE_PROFILE,	/* another profile is in force */
	MESSAGE_OVERRIDE,	/* an override began or ended */
	MESSAGE_SOURCE_DROPPED, /* a frequency counter is wrong, and no longer used */
	MESSAGES,
};

/* What is reported to people; a module may take it by its hook report. */

enum event_kind {
	EVENT_DECISION, /* a domain's target changed */
	EVENT_BOOST,	/* the state of a task's boost changed */
	EVENT_YIELD,	/* a domain was yielded, went offline or came back */
	EVENT_ERROR,	/* something failed */
	EVENT_CHANGE,	/* a change by a user: policy, override, recording */
	EVENT_KINDS,
};

/* A subject, borrowed; 0 and NULL where it has none. */
struct event {
	enum event_kind kind;
	uint64_t now_ns;
	const char *domain;
	uint32_t pid;
	const char *comm;
	const char *reason;	     /* for the journal */
	const char *message;	     /* a sentence */
	const struct change *change; /* of EVENT_DECISION */
	const struct io_task *task;  /* of EVENT_BOOST */
	const char *previous_state;  /* previous state of the boost; NULL: a new task */
};

/* Writes a line to the journal. about may be NULL; its kind, time and message are set here. */
void journal_log(enum message message, const struct event *about, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, and to the modules that take reports. */
void journal_report(struct core *core, enum message message, const struct event *about,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Logs the result of restoring a control. */
void journal_report_restore(void *userdata, const struct restore_result *result);

/*
 * Logs, if r, the result of a restoration, is a negative errno, that not all of `what` ("the clamps
 * of tasks") was restored, and that the rest is in the file of run_dir.
 */
void journal_log_left(int r, const char *what, const char *run_dir, const char *file);
