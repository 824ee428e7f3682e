// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/peer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/cleanup.h"

bool query_user_is_owner(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/*
 * Reads the peer's supplementary groups into an allocated array. Returns their number, or a
 * negative errno.
 */
static int read_groups(int fd, gid_t **ret)
{
	_cleanup_free_ gid_t *groups = NULL;
	socklen_t size = 0;

	/* The first call returns the size. */
	/* cppcheck-suppress nullPointer */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) < 0 && errno != ERANGE)
		return -errno;
	groups = malloc(size + 1);
	if (!groups)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return -errno;
	*ret = take_ptr(groups);
	return (int)(size / sizeof(gid_t));
}

static bool is_member(uint32_t group, gid_t primary, const gid_t *groups, int n)
{
	if (group == POLICY_GROUP_NONE)
		return false;
	for (int i = 0; i < n; i++)
		if (groups[i] == group)
			return true;
	return primary == group;
}

int query_peer_judge(struct query_peer *ret, int fd, const struct policy_query *policy)
{
	_cleanup_free_ gid_t *groups = NULL;
	socklen_t size = sizeof(struct ucred);
	struct ucred peer;
	int n;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -errno;
	n = read_groups(fd, &groups);
	if (n < 0)
		return n;
	assert(groups);
	ret->uid = peer.uid;
	ret->pid = peer.pid;
	ret->is_owner = query_user_is_owner(peer.uid);
	ret->may_change = ret->is_owner || is_member(policy->change_group, peer.gid, groups, n);
	ret->sees_all = ret->may_change || is_member(policy->read_group, peer.gid, groups, n);
	ret->may_read = ret->sees_all || policy->readers == POLICY_READERS_EVERYONE;
	return 0;
}
