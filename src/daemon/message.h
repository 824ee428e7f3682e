/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The lines that programs may want to find in the journal: each has a message id, which
 * `journalctl -x` explains from systemd/wakegov.catalog, and fields that say what it is about:
 *
 *	MESSAGE_ID       as in message.c, the catalog and wakegovd(8)
 *	WAKEGOV_DOMAIN   policyN
 *	WAKEGOV_PID, WAKEGOV_TASK
 *	WAKEGOV_REASON   why, in a word: what won a decision, or the errno's name for a failure
 *
 * Where standard error does not lead to the journal, it gets the line alone. What is said once, in
 * the course of starting, is plain shared/log.h.
 */

#include <stdarg.h>
#include <stdint.h>

enum message {
	MESSAGE_GOVERNING,	/* the daemon is up */
	MESSAGE_OBSERVED,	/* a domain is only observed, or not at all */
	MESSAGE_YIELDED,	/* a domain was left to another program */
	MESSAGE_OFFLINE,	/* a domain's CPUs are offline */
	MESSAGE_ONLINE,		/* they are back */
	MESSAGE_WRITE_FAILED,	/* a domain's frequency cannot be set */
	MESSAGE_POLICY_READ,	/* the policy was read again */
	MESSAGE_POLICY_REFUSED, /* it has a fault; the old one stays */
	MESSAGE_RESTORED,	/* a control is as it was before wakegov */
	MESSAGE_RESTORE_FAILED,
	MESSAGE_PROFILE,	/* another profile of the policy holds */
	MESSAGE_OVERRIDE,	/* somebody limited a domain for a while, or ended that */
	MESSAGE_SOURCE_DROPPED, /* what counts frequencies is wrong, and not used any more */
	MESSAGE_DECISION,	/* a domain's target changed; shown with --debug */
	MESSAGES,
};

/* All of it may be left out. Borrowed. */
struct message_about {
	const char *domain;
	uint32_t pid;
	const char *comm;
	const char *reason;
};

/* about may be NULL. */
void message_log(enum message message, const struct message_about *about, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
