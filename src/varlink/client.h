/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One connection of the query server, and what the server's own files share about it. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "varlink/buffer.h"
#include "varlink/channel.h"
#include "varlink/frame.h"
#include "varlink/peer.h"
#include "varlink/server.h"

/* The reason of the client's deadline. */
enum client_wait {
	CLIENT_WAIT_NONE,
	CLIENT_WAIT_CALL,  /* the rest of a call */
	CLIENT_WAIT_REPLY, /* that the client reads */
};

/* How many places a user holds; one for all clients of that user. */
struct query_user {
	uint32_t n_clients;
};

struct query_client {
	struct query_server *server;
	struct query_client *next;
	int fd;
	struct query_peer peer;
	struct query_user *user;
	struct frame_reader calls;
	struct buffer replies;
	struct subscription subscription; /* of the call that goes on, if one does */
	enum client_wait wait;
	uint64_t quiet_since_us; /* CLOCK_MONOTONIC */
	sd_event_source *io;
	sd_event_source *deadline; /* made when first needed */
};

struct query_server {
	sd_event *event;
	int listen_fd;
	sd_event_source *listener;
	sd_event_source *resume; /* ends a pause of the listener */
	const struct query_method *methods;
	void *userdata; /* for them */
	struct policy_query limits;
	struct query_client *clients;
	sd_event_source *flush; /* sends what was published, a moment later */
	bool flush_is_armed;
};

/* connection.c: the account of that user; NULL when none of its clients is there. */
struct query_user *query_user_find(const struct query_server *server, uid_t uid);
/*
 * Adds a client to the user's account; NULL without memory. query_user_leave() removes one; the
 * last frees the account.
 */
struct query_user *query_user_join(struct query_server *server, uid_t uid);
void query_user_leave(struct query_user *user);

/* Takes over fd on success. Links the client into its server. Returns 0 or a negative errno. */
int query_client_new(struct query_server *server, int fd, const struct query_peer *peer);

/* Returns 1 when something came, 0 when nothing did, -ESHUTDOWN at the end, or another failure. */
int query_client_receive(struct query_client *client);

/* Unlinks, closes and frees; why goes to the debug log. */
void query_client_drop(struct query_client *client, const char *why);

/*
 * stream.c: a client whose call goes on. Returns 0, or a negative errno if the client is to be
 * dropped. What it sends meanwhile would never be answered: that is an end as well.
 */
int query_client_serve_stream(struct query_client *client, uint32_t revents);

/* Makes it wait for what it can do next: send what there is, or hear that the client has gone. */
int query_client_settle_stream(struct query_client *client);

/* io.wakegov.TooSlow: the end of the call, and of the connection. */
void query_client_drop_slow(struct query_client *client);

/* Handler of the timer that is armed when something was published. */
int query_server_flush(sd_event_source *source, uint64_t usec, void *userdata);

/* Monotonic time of this turn of the loop. */
uint64_t query_server_now_us(const struct query_server *server);

/* Drops the clients with the longest queues until the unread replies are within their bound. */
void query_server_trim_unread(struct query_server *server);

/*
 * Makes sure that a newcomer finds a place, by dropping a client that has to yield to it if there
 * is no other. Returns 0, or -EUSERS if the newcomer has to go.
 */
int query_server_admit(struct query_server *server, const struct query_peer *newcomer);
