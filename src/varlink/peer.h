/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The user at the other end of a connection, and the rights of that user. Credentials are those at
 * the time of the connect, as the kernel kept them: nothing is looked up in /proc, so the process
 * need not exist any more.
 *
 *	reading          everyone, or with readers = group the members of read-group
 *	seeing all       root, the daemon's own user, read-group and change-group: the command lines
 *	                 of other users' tasks
 *	changing         root, the daemon's own user, and change-group, which may also read
 */

#include <stdbool.h>
#include <sys/types.h>

#include "core/settings.h"

struct query_peer {
	uid_t uid;
	pid_t pid;
	bool shares_pids; /* its numbers of tasks are the daemon's: shared/pids.h */
	bool is_owner;	  /* root or the daemon's own user */
	bool may_read;
	bool may_change;
	bool sees_all;
};

/* Finds the rights of the peer of a connected socket. Returns 0 or a negative errno. */
int query_peer_judge(struct query_peer *ret, int fd, const struct policy_query *policy);
