/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Hints: a class that a user has given a task for a while. The table is the rules' (rules/rules.h);
 * this is who may give one, and its end: by time, with its task, when the policy no longer has its
 * class, when it is cancelled, or with the client that holds it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/module.h"
#include "rules/rules.h"

struct query_peer;
struct subscription;

struct hinting {
	struct core *core;
	struct hint_hold *holds;
	uint64_t next_end_ns; /* when the first hint ends; UINT64_MAX: none ends */
	uint64_t save_ns;     /* when to save hints; UINT64_MAX: the file is up to date */
	bool unsaved;	      /* saving failed, which was logged */
	bool started;	      /* the table is that of the file, or newer */
};

extern const struct module hinting_module;

struct hint_request {
	uint32_t pid;	   /* a process or one of its threads; 0: the caller itself */
	uint64_t pidfd_id; /* inode number of a pidfd of the process; 0: not known */
	const char *class; /* borrowed */
	int children;	   /* whether its children get the hint; negative: as the class says */
	uint64_t for_us;
	const struct query_peer *peer; /* the caller; borrowed */
};

/*
 * Gives a hint, in place of the task's present one. *ret is borrowed until the next event. Returns
 * 0 or
 *
 *	-ESRCH		there is no such task, or it is not the one of pidfd_id
 *	-EPERM		it is another user's, or another user gave it the hint that it has
 *	-EOPNOTSUPP	it is a kernel thread
 *	-ENODATA	the policy has no such class
 *	-EBUSY		a client holds the one that it has, and the caller may not change that
 *	-EDQUOT		the user has as many as one may have
 *	-ENOSPC		there is no room for one more, or for its class beside the policy's rules
 */
int hinting_give(struct hinting *hinting, const struct hint_request *request, struct hint **ret);

/* Ends the task's own hint. Returns as above, or -ENOENT: it has none. */
int hinting_end(struct hinting *hinting, const struct hint_request *request);

/*
 * Makes the hint last until the client ends the subscription, which is made here. Returns 0, or
 * -ENOMEM with the hint ended.
 */
int hinting_hold(struct hinting *hinting, struct hint *hint, struct subscription *subscription);

/*
 * hint_file.c: the hints in force, in DIRECTORY/hints (see shared/statefile.h).
 *
 *	hint PID IS_THREAD CHILDREN ANY_USER UID BY_UID START_NS SINCE_NS END_NS CLASS
 *	heir PID START_NS PID_OF_HINT
 *
 * A hint that a client holds is left out: it ends with the daemon. Processes that inherited a hint
 * are saved too, as their parents may be gone at the next start.
 */

#define HINT_FILE "hints"

/* Writes the hints, or removes the file when there are none. 0 or a negative errno. */
int hint_file_save(const char *directory, const struct rules *rules);

/*
 * Fills the empty table of the rules with what has not ended at now_ns. Returns 0, also without a
 * file, or a negative errno as statefile_open() does, with the table empty.
 */
int hint_file_load(const char *directory, uint64_t now_ns, struct rules *rules);
