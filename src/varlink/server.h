/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The Varlink server on a Unix socket: io.wakegov and org.varlink.service (varlink.org). One
 * thread, on the daemon's event loop; it never blocks on a client.
 *
 * Its event sources have idle priority: the governor's own work goes first. One turn of the loop
 * serves at most QUERY_CALLS_PER_TURN calls of one client, and no further call before the client
 * has read the reply. While no client is in the middle of a call no timer is armed.
 *
 * What is bounded, and what happens beyond:
 * - a message: policy_query.max_message_bytes; the client is dropped.
 * - the time to complete a call or to read a reply: policy_query.client_timeout_ns; dropped.
 * - a reply: QUERY_REPLY_BYTES_MAX; io.wakegov.ReplyTooLarge.
 * - all unread replies: QUERY_UNREAD_BYTES_MAX; the client with the most is dropped.
 * - what a monitor has not read: CHANNEL_BYTES and CHANNEL_MESSAGES, once for all monitors, and
 *   policy_query.client_timeout_ns; io.wakegov.TooSlow, and the client is dropped.
 * - clients: policy_query.max_clients. When all places are taken, a newcomer gets one of a user who
 *   holds at least two more than its own: first of those that have been quiet for longer than
 *   client_timeout_ns, which yield to their own user and to any who holds fewer places as well;
 *   where there is none it is closed at once. Root and the daemon's own user displace others'
 *   clients, and are displaced by none.
 */

#include <systemd/sd-event.h>

#include "core/settings.h"
#include "varlink/call.h"
#include "varlink/channel.h"

#define QUERY_CALLS_PER_TURN   8
#define QUERY_REPLY_BYTES_MAX  (8u * 1024 * 1024)
#define QUERY_UNREAD_BYTES_MAX (32u * 1024 * 1024)

struct query_server;

/*
 * Takes over listen_fd (a listening AF_UNIX stream socket) on success and makes it non-blocking.
 * methods are those of io.wakegov, which get userdata; both are borrowed and must outlive the
 * server, as must the channels that a method subscribes a call to. Returns 0 or a negative errno.
 */
int query_server_new(sd_event *event, int listen_fd, const struct query_method *methods,
		     void *userdata, const struct policy_query *limits, struct query_server **ret);

/* Sets new limits after a reload; connected clients keep their places. A method may call it. */
void query_server_set_limits(struct query_server *server, const struct policy_query *limits);

/*
 * Sends a whole reply, within a tenth of a second, to the subscribers of the channel whose filter
 * passes the tag; their calls continue. Needs a subscriber. Costs the text once, for any number of
 * them. Returns 0 or a negative errno.
 */
int query_server_publish(struct query_server *server, struct channel *channel,
			 const struct channel_tag *tag, const struct buffer *message);

/* Closes every client and the listening socket, whose path stays. NULL is fine. Returns NULL. */
struct query_server *query_server_free(struct query_server *server);

/*
 * Binds and listens on path (mode 0666: rights are judged by peer credentials). Replaces a stale
 * socket of a dead daemon; -EADDRINUSE if a process answers on it; -EEXIST for a path that is not a
 * socket, which is left alone. Returns a descriptor or a negative errno.
 */
int query_listen(const char *path);
