// SPDX-License-Identifier: GPL-2.0-only
/* Receives from clients, drops them, and counts them by user. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "shared/log.h"
#include "varlink/client.h"

uint64_t query_server_now_us(const struct query_server *server)
{
	uint64_t now_us = 0;

	sd_event_now(server->event, CLOCK_MONOTONIC, &now_us);
	return now_us;
}

struct query_user *query_user_find(const struct query_server *server, uid_t uid)
{
	for (const struct query_client *client = server->clients; client; client = client->next)
		if (client->peer.uid == uid)
			return client->user;
	return NULL;
}

struct query_user *query_user_join(struct query_server *server, uid_t uid)
{
	struct query_user *user = query_user_find(server, uid) ?: calloc(1, sizeof(*user));

	if (user)
		user->n_clients++;
	return user;
}

void query_user_leave(struct query_user *user)
{
	if (!--user->n_clients)
		free(user);
}

static void unlink_client(struct query_client *client)
{
	struct query_client **link = &client->server->clients;

	while (*link && *link != client)
		link = &(*link)->next;
	if (*link)
		*link = client->next;
}

void query_client_drop(struct query_client *client, const char *why)
{
	log_debug("Client of uid %u dropped: %s.", (unsigned int)client->peer.uid, why);

	unlink_client(client);
	channel_unsubscribe(&client->subscription);
	sd_event_source_disable_unref(client->io);
	sd_event_source_disable_unref(client->deadline);
	frame_reader_deinit(&client->calls);
	buffer_deinit(&client->replies);
	query_user_leave(client->user);
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

void query_server_trim_unread(struct query_server *server)
{
	for (;;) {
		struct query_client *longest = NULL;
		size_t unread = 0;

		for (struct query_client *c = server->clients; c; c = c->next) {
			unread += c->replies.length;
			if (!longest || c->replies.length > longest->replies.length)
				longest = c;
		}
		if (unread <= QUERY_UNREAD_BYTES_MAX)
			return;
		query_client_drop(longest, "all clients together leave too much unread");
	}
}
