// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client with a streaming call: it gets the published messages, and is dropped when it does not
 * read.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "shared/log.h"
#include "varlink/client.h"
#include "varlink/reply.h"

/*
 * Bytes sent in one turn, only when the socket is writable: then three quarters of its buffer are
 * free, so there is always room for the reply that ends the call.
 */
#define BYTES_PER_TURN (32 * 1024)
#define ERROR_BYTES    1024

/*
 * Published messages are sent together, this much later: sending each at once to each client would
 * delay decisions.
 */
#define FLUSH_US 100000

/* Called when the socket is writable: the client has read. */
static int send_news(struct query_client *client)
{
	int r = 0;

	client->subscription.behind_since_us = 0;
	if (!client->replies.length) {
		client->replies.max = QUERY_REPLY_BYTES_MAX;
		r = channel_pull(&client->subscription, &client->replies, BYTES_PER_TURN);
	}
	if (r >= 0)
		r = buffer_send(&client->replies, client->fd);
	return r == -EAGAIN ? 0 : r;
}

static bool has_everything(struct query_client *client)
{
	return !client->replies.length && !channel_has_news(&client->subscription);
}

int query_client_settle_stream(struct query_client *client)
{
	bool done = has_everything(client);

	/* Sent before the call that goes on was answered. */
	if (client->calls.input.length)
		return -EALREADY;
	if (client->wait != CLIENT_WAIT_NONE && client->deadline)
		sd_event_source_set_enabled(client->deadline, SD_EVENT_OFF);
	client->wait = CLIENT_WAIT_NONE;
	if (done && client->subscription.channel->is_over)
		channel_unsubscribe(&client->subscription);
	return sd_event_source_set_io_events(client->io, done ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

int query_client_serve_stream(struct query_client *client, uint32_t revents)
{
	int r = revents & ~EPOLLOUT ? query_client_receive(client) : 0;

	if (r > 0)
		return -EALREADY;
	if (r == 0 && revents & EPOLLOUT)
		r = send_news(client);
	return r < 0 ? r : query_client_settle_stream(client);
}

/*
 * Checks whether the client keeps up. Returns whether it has everything, or -ESTALE if it must get
 * an error and be dropped.
 */
static int check(struct query_client *client, uint64_t now_us)
{
	struct subscription *subscription = &client->subscription;
	uint64_t timeout_us = client->server->limits.client_timeout_ns / 1000;
	int r;

	if (!subscription->channel || has_everything(client))
		return 1;
	if (!subscription->behind_since_us)
		subscription->behind_since_us = now_us;
	if (now_us - subscription->behind_since_us >= timeout_us)
		return -ESTALE;
	r = sd_event_source_set_io_events(client->io, EPOLLIN | EPOLLOUT);
	return r < 0 ? r : 0;
}

void query_client_drop_slow(struct query_client *client)
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

static int arm_flush(struct query_server *server)
{
	int r;

	if (server->flush_is_armed)
		return 0;
	r = sd_event_source_set_time_relative(server->flush, FLUSH_US);
	if (r >= 0)
		r = sd_event_source_set_enabled(server->flush, SD_EVENT_ONESHOT);
	server->flush_is_armed = r >= 0;
	return r;
}

/* Each client then sends in its own turn, after more important work. */
int query_server_flush(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct query_server *server = userdata;
	uint64_t now_us = query_server_now_us(server);
	struct query_client *client, *next;
	bool all_have_all = true;

	server->flush_is_armed = false;
	for (client = server->clients; client; client = next) {
		int r = check(client, now_us);

		next = client->next;
		if (r == -ESTALE)
			query_client_drop_slow(client);
		else if (r < 0)
			query_client_drop(client, strerror(-r));
		else if (!r)
			all_have_all = false;
	}
	return all_have_all ? 0 : arm_flush(server);
}

int query_server_publish(struct query_server *server, struct channel *channel,
			 const struct channel_tag *tag, const struct buffer *message)
{
	int r = channel_publish(channel, tag, buffer_bytes(message), message->length);

	return r < 0 ? r : arm_flush(server);
}
