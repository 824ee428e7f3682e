/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Hints as the manager handles them (rules/hints.h is the table): who may give one, and when it
 * ends. That is when its time is over, when no task has it any more, when the policy has no such
 * class any more, or with the connection of the client that holds it.
 */

#include <sys/types.h>

#include "rules/hints.h"
#include "varlink/channel.h"
#include "varlink/peer.h"

struct manager;

struct hint_request {
	uint32_t pid;	   /* a process, or one of its threads; 0: the peer itself */
	uint64_t pidfd_id; /* the inode number of a pidfd of it; 0: it is not known */
	const char *class; /* borrowed */
	int children;	   /* what it starts as well; negative: as the class says */
	uint64_t for_us;
	const struct query_peer *peer; /* who asks; borrowed */
};

/*
 * Gives one, in place of that which the task has. *ret is borrowed until the next event. Returns 0
 * or
 *
 *	-ESRCH		there is no such task, or it is not the one of pidfd_id
 *	-EPERM		it is another user's, or another user gave it the hint that it has
 *	-EOPNOTSUPP	it is a kernel thread
 *	-ENODATA	the policy has no such class
 *	-EBUSY		a client holds the one that it has
 *	-EDQUOT		the user has as many as one may have
 *	-ENOSPC		there is no room for one more, or for its class beside the policy's rules
 */
int hinting_give(struct manager *manager, const struct hint_request *request, struct hint **ret);

/* Ends that which the task has by itself. As above, or -ENOENT: it has none. */
int hinting_end(struct manager *manager, const struct hint_request *request);

/*
 * The hint holds until the client ends the subscription, which is made here. Returns 0 or -ENOMEM,
 * and the hint ends.
 */
int hinting_hold(struct manager *manager, struct hint *hint, struct subscription *subscription);

/* Those that hold on since before the daemon was restarted. Returns 0 or a negative errno. */
int hinting_start(struct manager *manager);
void hinting_stop(struct manager *manager);

/* A new policy is about to be put into effect: the classes that are hinted become rules of it. */
void hinting_fill_policy(struct manager *manager);

/* To be called after events of tasks were taken: some may have been the last of a hint's. */
void hinting_mind_tasks(struct manager *manager);
