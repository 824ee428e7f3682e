// SPDX-License-Identifier: GPL-2.0-only
/*
 * Serves one client, a turn at a time. A client with a streaming call gets the published messages,
 * and is dropped if it does not read them.
 */
#include "varlink/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "varlink/call.h"
#include "varlink/reply.h"

/* Further calls are answered in the same turn only while their replies are small. */
#define REPLIES_PER_TURN_BYTES (64 * 1024)

/*
 * Bytes sent in one turn, only when the socket is writable: three quarters of its buffer are free
 * then, so there is always room for the reply that ends the call.
 */
#define BYTES_PER_TURN (32 * 1024)
#define ERROR_BYTES    1024

/*
 * Published messages are sent together, after this time: sending each at once to each client would
 * delay decisions.
 */
#define FLUSH_US 100000

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct query_client *client = userdata;

	query_client_drop(client, client->wait == CLIENT_WAIT_REPLY
					  ? "it did not read its reply in time"
					  : "it did not complete its call in time");
	return 0;
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
	const struct call call = {
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
		r = query_dispatch(client->server->methods, &call, message, length,
				   &client->replies);
		if (r < 0)
			return r;
		frame_reader_pop(&client->calls, length);
		answered++;
	}
	return answered;
}

/*
 * Chooses the next event to wait for. Unread replies come before new calls, so that a client that
 * does not read cannot make its queue grow. A continued wait keeps its deadline: single bytes do
 * not prolong it.
 */
static int choose_wait(struct query_client *client, bool progress)
{
	uint64_t timeout_us = client->server->limits.client_timeout_ns / 1000;
	bool unread = client->replies.length || has_call(client);
	enum client_wait wait = CLIENT_WAIT_NONE, before = client->wait;
	int r = 0;

	if (unread)
		wait = CLIENT_WAIT_REPLY;
	else if (client->calls.input.length)
		wait = CLIENT_WAIT_CALL;
	client->wait = wait;
	if (progress)
		client->quiet_since_us = query_server_now_us(client->server);

	if (wait == CLIENT_WAIT_NONE)
		r = sd_event_source_set_enabled(client->deadline, SD_EVENT_OFF);
	else if (wait != before || progress)
		r = query_timer_start(client->deadline, timeout_us);
	if (r < 0)
		return r;
	/* A call that waits for its turn resumes when the socket is writable. */
	return sd_event_source_set_io_events(client->io, unread ? EPOLLOUT : EPOLLIN);
}

static bool has_everything(struct query_client *client)
{
	return !client->replies.length && !channel_has_news(&client->subscription);
}

/* Waits until messages can be sent, or the client has gone. */
static int wait_for_stream(struct query_client *client)
{
	bool done = has_everything(client);

	/* It sent this before its last call was answered. */
	if (client->calls.input.length)
		return -EALREADY;
	sd_event_source_set_enabled(client->deadline, SD_EVENT_OFF);
	client->wait = CLIENT_WAIT_NONE;
	if (done && client->subscription.channel->is_over)
		channel_unsubscribe(&client->subscription);
	return sd_event_source_set_io_events(client->io, done ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

/*
 * Returns 0, or a negative errno if the client must be dropped. A client that sends anything is
 * dropped too, as it would never get an answer.
 */
static int serve_stream(struct query_client *client, uint32_t revents)
{
	int r = revents & ~EPOLLOUT ? query_client_receive(client) : 0;

	if (r > 0)
		return -EALREADY;
	if (r == 0 && revents & EPOLLOUT) {
		/* It is writable, so the client has read. */
		client->subscription.behind_since_us = 0;
		if (!client->replies.length) {
			client->replies.max = QUERY_REPLY_BYTES_MAX;
			r = channel_pull(&client->subscription, &client->replies, BYTES_PER_TURN);
		}
		if (r >= 0)
			r = buffer_send(&client->replies, client->fd);
	}
	return r < 0 && r != -EAGAIN ? r : wait_for_stream(client);
}

/* Sends io.wakegov.TooSlow, which ends the call and the connection. */
static void drop_slow(struct query_client *client)
{
	uint64_t missed = channel_lag(&client->subscription);
	struct json_out *out;
	struct reply reply;

	client->replies.max = client->replies.length + ERROR_BYTES;
	reply_init(&reply, &client->replies, false);
	out = reply_begin_error(&reply, "io.wakegov.TooSlow");
	field_count(out, "missed", missed);
	if (reply_end(&reply) == 0)
		buffer_send(&client->replies, client->fd);
	query_client_drop(client, "it did not read its events in time");
}

/* Serves one turn. Returns 0, or a negative errno with which the caller drops the client. */
static int serve(struct query_client *client)
{
	int r = send_replies(client), answered = 0;

	/* With nothing left to answer or to read, the end of the stream is the client's end. */
	if (!r && !client->replies.length && !has_call(client))
		r = query_client_receive(client);
	if (r >= 0 && !client->replies.length) {
		answered = answer_calls(client);
		r = answered < 0 ? answered : send_replies(client);
	}
	if (r < 0)
		return r;
	return client->subscription.channel ? wait_for_stream(client)
					    : choose_wait(client, answered > 0);
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
	int r = client->subscription.channel ? serve_stream(client, revents) : serve(client);

	if (r == -ESTALE)
		drop_slow(client);
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
		.quiet_since_us = query_server_now_us(server),
	};
	server->clients = client;

	r = sd_event_add_io(server->event, &client->io, fd, EPOLLIN, on_io, client);
	if (r >= 0)
		r = sd_event_source_set_priority(client->io, SD_EVENT_PRIORITY_IDLE);
	if (r >= 0)
		r = query_server_add_timer(server, &client->deadline, on_deadline, client);
	if (r < 0) {
		query_client_drop(client, strerror(-r));
		return r;
	}
	client->fd = fd;
	return 0;
}

static int start_flush_timer(struct query_server *server)
{
	int r = sd_event_source_get_enabled(server->flush, NULL);

	return r ? r : query_timer_start(server->flush, FLUSH_US);
}

/* Each client then sends in its own turn, after more important work. */
int query_server_flush(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct query_server *server = userdata;
	uint64_t timeout_us = server->limits.client_timeout_ns / 1000;
	uint64_t now_us = query_server_now_us(server);
	struct query_client *client, *next;
	bool all_have_all = true;
	int r;

	for (client = server->clients; client; client = next) {
		struct subscription *subscription = &client->subscription;

		next = client->next;
		if (!subscription->channel || has_everything(client))
			continue;
		if (!subscription->behind_since_us)
			subscription->behind_since_us = now_us;
		if (now_us - subscription->behind_since_us >= timeout_us) {
			drop_slow(client);
			continue;
		}
		r = sd_event_source_set_io_events(client->io, EPOLLIN | EPOLLOUT);
		if (r < 0)
			query_client_drop(client, strerror(-r));
		else
			all_have_all = false;
	}
	return all_have_all ? 0 : start_flush_timer(server);
}

int query_server_publish(struct query_server *server, struct channel *channel,
			 const struct channel_tag *tag, const struct buffer *message)
{
	int r = channel_publish(channel, tag, buffer_bytes(message), message->length);

	if (r == 0)
		r = start_flush_timer(server);
	return r < 0 ? r : 0;
}
