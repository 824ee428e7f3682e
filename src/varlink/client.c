// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "shared/log.h"
#include "varlink/call.h"

/* Deadlines are against hostile clients, and need not be precise. */
#define DEADLINE_ACCURACY_US 50000

/* More calls are answered in one go only while their replies are small. */
#define REPLIES_PER_TURN_BYTES (64 * 1024)

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct query_client *client = userdata;

	query_client_drop(client, client->wait == CLIENT_WAIT_REPLY
					  ? "it did not read its reply in time"
					  : "it did not complete its call in time");
	return 0;
}

/* Restarts the deadline for the present wait. */
static int start_deadline(struct query_client *client)
{
	uint64_t timeout_us = client->server->limits.client_timeout_ns / 1000;
	int r;

	if (!client->deadline) {
		r = sd_event_add_time_relative(client->server->event, &client->deadline,
					       CLOCK_MONOTONIC, timeout_us, DEADLINE_ACCURACY_US,
					       on_deadline, client);
		if (r < 0)
			return r;
		return sd_event_source_set_priority(client->deadline, SD_EVENT_PRIORITY_IDLE);
	}

	r = sd_event_source_set_time_relative(client->deadline, timeout_us);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(client->deadline, SD_EVENT_ONESHOT);
}

/* A wait that continues keeps its deadline: single bytes do not prolong it. */
static int update_deadline(struct query_client *client, enum client_wait wait, bool progress)
{
	bool same = wait == client->wait && !progress;

	client->wait = wait;
	if (wait == CLIENT_WAIT_NONE && client->deadline)
		return sd_event_source_set_enabled(client->deadline, SD_EVENT_OFF);
	return wait == CLIENT_WAIT_NONE || same ? 0 : start_deadline(client);
}

static bool has_call(struct query_client *client)
{
	const char *message;
	size_t length;

	return frame_reader_peek(&client->calls, &message, &length) > 0;
}

static int send_replies(struct query_client *client)
{
	int r = buffer_send(&client->replies, client->fd);

	return r == -EAGAIN ? 0 : r;
}

/* Answers a bounded number of calls. Returns the number, or a negative errno. */
static int answer_calls(struct query_client *client)
{
	const struct query_context context = {
		.methods = client->server->methods,
		.userdata = client->server->userdata,
		.peer = &client->peer,
		.subscription = &client->subscription,
	};
	int answered = 0;

	while (answered < QUERY_CALLS_PER_TURN && !client->subscription.channel &&
	       client->replies.length < REPLIES_PER_TURN_BYTES) {
		const char *message;
		size_t length;
		int r = frame_reader_peek(&client->calls, &message, &length);

		if (r < 0)
			return r;
		if (!r)
			break;

		client->replies.max = client->replies.length + QUERY_REPLY_BYTES_MAX;
		r = query_dispatch(&context, message, length, &client->replies);
		if (r < 0)
			return r;
		frame_reader_pop(&client->calls, length);
		answered++;
	}
	return answered;
}

/*
 * Decides what to wait for next. Unread replies come before new calls, so that a client that does
 * not read cannot make its queue grow.
 */
static int settle(struct query_client *client, bool progress)
{
	bool call = has_call(client);
	bool unread = client->replies.length || call;
	enum client_wait wait = CLIENT_WAIT_NONE;
	int r;

	if (unread)
		wait = CLIENT_WAIT_REPLY;
	else if (client->calls.input.length)
		wait = CLIENT_WAIT_CALL;

	if (progress)
		client->quiet_since_us = query_server_now_us(client->server);
	r = update_deadline(client, wait, progress);
	if (r < 0)
		return r;
	/* A call that must wait for its turn is resumed there when the socket is writable. */
	return sd_event_source_set_io_events(client->io, unread ? EPOLLOUT : EPOLLIN);
}

/* One turn. Returns 0, or a negative errno with which the caller drops the client. */
static int serve(struct query_client *client)
{
	int r = send_replies(client), answered = 0;

	/* Nothing is left to answer or to read, so the end of the stream is the client's end. */
	if (!r && !client->replies.length && !has_call(client))
		r = query_client_receive(client);
	if (r >= 0 && !client->replies.length) {
		answered = answer_calls(client);
		r = answered < 0 ? answered : send_replies(client);
	}
	if (r < 0)
		return r;
	return client->subscription.channel ? query_client_settle_stream(client)
					    : settle(client, answered > 0);
}

static const char *describe(int error)
{
	switch (error) {
	case -ESHUTDOWN:
	case -EPIPE:
	case -ECONNRESET:
		return "it hung up";
	case -EBADMSG:
		return "it sent something that is no Varlink call";
	case -EALREADY:
		return "it called while an earlier call of it goes on";
	case -EMSGSIZE:
		return "its message is too long";
	default:
		return strerror(-error);
	}
}

/* Drops the clients with the longest queues until all unread replies are within their bound. */
static void trim_unread(struct query_server *server)
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

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct query_client *client = userdata;
	struct query_server *server = client->server;
	int r = client->subscription.channel ? query_client_serve_stream(client, revents)
					     : serve(client);

	if (r == -ESTALE)
		query_client_drop_slow(client);
	else if (r < 0)
		query_client_drop(client, describe(r));
	trim_unread(server);
	return 0;
}

int query_client_new(struct query_server *server, int fd, const struct query_peer *peer)
{
	struct query_client *client = calloc(1, sizeof(*client));
	int r;

	if (!client)
		return -ENOMEM;

	*client = (struct query_client){
		.server = server,
		.next = server->clients,
		.fd = -1,
		.peer = *peer,
		.user = query_user_join(server, peer->uid),
		.quiet_since_us = query_server_now_us(server),
	};
	if (!client->user) {
		free(client);
		return -ENOMEM;
	}
	server->clients = client;

	r = sd_event_add_io(server->event, &client->io, fd, EPOLLIN, on_io, client);
	if (r >= 0)
		r = sd_event_source_set_priority(client->io, SD_EVENT_PRIORITY_IDLE);
	if (r < 0) {
		query_client_drop(client, strerror(-r));
		return r;
	}
	client->fd = fd;
	return 0;
}
