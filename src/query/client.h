/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One connection of the query server, and what the server's own files share about it. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "query/buffer.h"
#include "query/frame.h"
#include "query/server.h"

/* What the client's deadline is about. */
enum client_wait {
	CLIENT_WAIT_NONE,
	CLIENT_WAIT_CALL,  /* the rest of a call */
	CLIENT_WAIT_REPLY, /* that the client reads */
};

struct query_client {
	struct query_server *server;
	struct query_client *next;
	int fd;
	uid_t uid;
	bool privileged; /* root or the daemon's own user */
	struct frame_reader calls;
	struct buffer replies;
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
	const struct query_source *source;
	struct policy_query limits;
	struct query_client *clients;
};

/* Takes over fd on success. Links the client into its server. Returns 0 or a negative errno. */
int query_client_new(struct query_server *server, int fd, uid_t uid);

/* Unlinks, closes and frees; why goes to the debug log. */
void query_client_drop(struct query_client *client, const char *why);

/* Monotonic time of this turn of the loop. */
uint64_t query_server_now_us(const struct query_server *server);

/* Drops the clients with the longest queues until the unread replies are within their bound. */
void query_server_trim_unread(struct query_server *server);

bool query_user_is_privileged(uid_t uid);

/*
 * Makes sure that a newcomer of user uid finds a place, by dropping a client that has to yield to
 * it if there is no other. Returns 0, or -EUSERS if the newcomer has to go.
 */
int query_server_admit(struct query_server *server, uid_t uid);
