// SPDX-License-Identifier: GPL-2.0-only
/* Who gets a place among the clients, and who has to yield it. */
#include <errno.h>
#include <sys/ioctl.h>

#include "query/client.h"

struct newcomer {
	const struct query_peer *peer;
	bool over_quota; /* its user holds as many clients as one may */
	uint64_t now_us;
};

/* What it sent lies there, and we have not come to it yet. */
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

static bool yields(const struct query_client *client, const struct newcomer *newcomer)
{
	/* However busy it is: root always gets in. */
	if (newcomer->peer->is_owner && !client->peer.is_owner)
		return true;
	if (!is_stale(client, newcomer->now_us))
		return false;
	return client->peer.uid == newcomer->peer->uid ||
	       (!client->peer.is_owner && !newcomer->over_quota);
}

/* Of those that yield, the one that has been quiet for longest. */
static struct query_client *find_victim(const struct query_server *server,
					const struct newcomer *newcomer)
{
	struct query_client *victim = NULL;

	for (struct query_client *client = server->clients; client; client = client->next)
		if (yields(client, newcomer) &&
		    (!victim || client->quiet_since_us < victim->quiet_since_us))
			victim = client;
	return victim;
}

int query_server_admit(struct query_server *server, const struct query_peer *peer)
{
	uint32_t n_clients = 0, n_own = 0, quota = (server->limits.max_clients + 1) / 2;
	struct newcomer newcomer = {
		.peer = peer,
		.now_us = query_server_now_us(server),
	};
	struct query_client *victim;

	for (const struct query_client *client = server->clients; client; client = client->next) {
		n_clients++;
		n_own += client->peer.uid == peer->uid;
	}
	newcomer.over_quota = !peer->is_owner && n_own >= quota;
	if (n_clients < server->limits.max_clients && !newcomer.over_quota)
		return 0;

	victim = find_victim(server, &newcomer);
	if (!victim)
		return -EUSERS;
	query_client_drop(victim, "another client needs its place");
	return 0;
}
