// SPDX-License-Identifier: GPL-2.0-only
/* The clients: their users, how many each may have, and which one gives up its place. */
#include "varlink/call.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/sysfs.h"
#include "varlink/client.h"

/* Deadlines are against hostile clients, and need not be precise. */
#define TIMER_ACCURACY_US 50000

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
	ret->shares_pids = sysfs_pids_are_shared_with(peer.pid);
	ret->is_owner = peer.uid == 0 || peer.uid == geteuid();
	ret->may_change = ret->is_owner || is_member(policy->change_group, peer.gid, groups, n);
	ret->sees_all = ret->may_change || is_member(policy->read_group, peer.gid, groups, n);
	ret->may_read = ret->sees_all || policy->readers == POLICY_READERS_EVERYONE;
	return 0;
}

/* The number of places that the user holds. */
static uint32_t count_clients(const struct query_server *server, uid_t uid)
{
	uint32_t n = 0;

	for (const struct query_client *client = server->clients; client; client = client->next)
		n += client->peer.uid == uid;
	return n;
}

uint64_t query_server_now_us(const struct query_server *server)
{
	uint64_t now_us = 0;

	sd_event_now(server->event, CLOCK_MONOTONIC, &now_us);
	return now_us;
}

int query_server_add_timer(struct query_server *server, sd_event_source **ret,
			   sd_event_time_handler_t handler, void *userdata)
{
	int r = sd_event_add_time_relative(server->event, ret, CLOCK_MONOTONIC, 0,
					   TIMER_ACCURACY_US, handler, userdata);

	if (r >= 0)
		r = sd_event_source_set_priority(*ret, SD_EVENT_PRIORITY_IDLE);
	return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

int query_timer_start(sd_event_source *timer, uint64_t after_us)
{
	int r = sd_event_source_set_time_relative(timer, after_us);

	return r < 0 ? r : sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

void query_client_drop(struct query_client *client, const char *why)
{
	struct query_client **link = &client->server->clients;

	log_debug("Client of uid %u dropped: %s.", (unsigned int)client->peer.uid, why);

	while (*link != client)
		link = &(*link)->next;
	*link = client->next;
	channel_unsubscribe(&client->subscription);
	sd_event_source_disable_unref(client->io);
	sd_event_source_disable_unref(client->deadline);
	frame_reader_deinit(&client->calls);
	buffer_deinit(&client->replies);
	if (client->fd >= 0)
		close(client->fd);
	free(client);
}

int query_client_receive(struct query_client *client)
{
	ssize_t n;

	frame_reader_set_max(&client->calls, client->server->limits.max_message_bytes);
	n = buffer_receive(&client->calls.input, client->fd);
	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n < 0)
		return (int)n;
	return n ? 1 : -ESHUTDOWN;
}

/* Which place goes first: a stale client's, one of the user with most, the quietest. */
struct claim {
	bool is_stale;
	uint32_t n_places;
	uint64_t quiet_us;
};

static bool goes_before(const struct claim *a, const struct claim *b)
{
	if (a->is_stale != b->is_stale)
		return a->is_stale;
	return a->n_places != b->n_places ? a->n_places > b->n_places : a->quiet_us > b->quiet_us;
}

/*
 * Whether the client gives up its place to the newcomer, whose user holds n_own. A stale client
 * yields to its own user and to users with fewer places. A busy one yields only to users with at
 * least two fewer, so that its user keeps at least as many as the newcomer's. Root displaces any
 * other client, and yields to none.
 */
static bool yields(const struct query_client *client, const struct query_peer *newcomer,
		   uint32_t n_own, struct claim *ret)
{
	uint64_t quiet_us = query_server_now_us(client->server) - client->quiet_since_us;
	bool is_own = client->peer.uid == newcomer->uid;
	uint32_t n = count_clients(client->server, client->peer.uid);
	int n_unread = 0;
	/* It has no call under way, and has sent nothing for the timeout. */
	bool is_stale = client->wait == CLIENT_WAIT_NONE && !client->subscription.channel &&
			quiet_us >= client->server->limits.client_timeout_ns / 1000 &&
			(is_own || newcomer->is_owner || n > n_own) &&
			(ioctl(client->fd, FIONREAD, &n_unread) < 0 || !n_unread);

	*ret = (struct claim){ is_stale, n, quiet_us };
	return (!client->peer.is_owner || is_own) &&
	       (is_stale || (!is_own && (newcomer->is_owner || n > n_own + 1)));
}

int query_server_admit(struct query_server *server, const struct query_peer *newcomer)
{
	uint32_t n_own = count_clients(server, newcomer->uid), n_clients = 0;
	struct query_client *victim = NULL;
	struct claim claim, first = { 0 };

	for (const struct query_client *client = server->clients; client; client = client->next)
		n_clients++;
	if (n_clients < server->limits.max_clients)
		return 0;
	for (struct query_client *client = server->clients; client; client = client->next)
		if (yields(client, newcomer, n_own, &claim) && goes_before(&claim, &first)) {
			victim = client;
			first = claim;
		}
	if (!victim)
		return -EUSERS;
	query_client_drop(victim, "another client needs its place");
	return 0;
}
