// SPDX-License-Identifier: GPL-2.0-only
/* Decides which clients get a place, and which must give theirs up. */
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "varlink/client.h"

struct newcomer {
	const struct query_peer *peer;
	uint32_t n_own; /* number of places that its user holds */
	uint64_t now_us;
};

/* Whether the client has sent something that was not read yet. */
static bool has_spoken(const struct query_client *client)
{
	int n = 0;

	return ioctl(client->fd, FIONREAD, &n) == 0 && n > 0;
}

static bool is_stale(const struct query_client *client, uint64_t now_us)
{
	uint64_t timeout_us = client->server->limits.client_timeout_ns / 1000;

	return client->wait == CLIENT_WAIT_NONE && !client->subscription.channel &&
	       now_us - client->quiet_since_us >= timeout_us && !has_spoken(client);
}

/* How soon a client must give up its place. */
enum readiness { STAYS, YIELDS, YIELDS_FIRST };

/*
 * A stale client yields to its own user and to users with fewer places; a busy one only to users
 * with at least two fewer, so that its user keeps at least as many as the newcomer. Root displaces
 * any other client, and yields to none.
 */
static enum readiness readiness_of(const struct query_client *client,
				   const struct newcomer *newcomer)
{
	bool is_own = client->peer.uid == newcomer->peer->uid;
	uint32_t n = client->user->n_clients;

	if (client->peer.is_owner && !is_own)
		return STAYS;
	if (is_stale(client, newcomer->now_us) &&
	    (is_own || newcomer->peer->is_owner || n > newcomer->n_own))
		return YIELDS_FIRST;
	if (is_own)
		return STAYS;
	return newcomer->peer->is_owner || n > newcomer->n_own + 1 ? YIELDS : STAYS;
}

/*
 * Of two equals, the one whose user has more places goes; of one user's, the one that has been
 * quiet for longer.
 */
static bool goes_before(const struct query_client *client, const struct query_client *other)
{
	if (client->user->n_clients != other->user->n_clients)
		return client->user->n_clients > other->user->n_clients;
	return client->quiet_since_us < other->quiet_since_us;
}

static struct query_client *find_victim(const struct query_server *server,
					const struct newcomer *newcomer)
{
	enum readiness readiest = STAYS;
	struct query_client *victim = NULL;

	for (struct query_client *client = server->clients; client; client = client->next) {
		enum readiness readiness = readiness_of(client, newcomer);

		if (readiness == STAYS || readiness < readiest)
			continue;
		if (!victim || readiness > readiest || goes_before(client, victim))
			victim = client;
		readiest = readiness;
	}
	return victim;
}

int query_server_admit(struct query_server *server, const struct query_peer *peer)
{
	const struct query_user *user = query_user_find(server, peer->uid);
	const struct newcomer newcomer = {
		.peer = peer,
		.n_own = user ? user->n_clients : 0,
		.now_us = query_server_now_us(server),
	};
	struct query_client *victim;
	uint32_t n_clients = 0;

	for (const struct query_client *client = server->clients; client; client = client->next)
		n_clients++;
	if (n_clients < server->limits.max_clients)
		return 0;

	victim = find_victim(server, &newcomer);
	if (!victim)
		return -EUSERS;
	query_client_drop(victim, "another client needs its place");
	return 0;
}
