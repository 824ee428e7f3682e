/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One connection of the query server, and what the server's files share about it. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "varlink/buffer.h"
#include "varlink/call.h"
#include "varlink/channel.h"
#include "varlink/server.h"

/* The reason of the client's deadline. */
enum client_wait {
	CLIENT_WAIT_NONE,
	CLIENT_WAIT_CALL,  /* for the rest of a call */
	CLIENT_WAIT_REPLY, /* until the client reads */
};

struct query_client {
	struct query_server *server;
	struct query_client *next;
	int fd;
	struct query_peer peer;
	struct frame_reader calls;
	struct buffer replies;
	struct subscription subscription; /* of the streaming call, if there is one */
	enum client_wait wait;
	uint64_t quiet_since_us; /* CLOCK_MONOTONIC */
	sd_event_source *io;
	sd_event_source *deadline;
};

struct query_server {
	sd_event *event;
	int listen_fd;
	sd_event_source *listener;
	sd_event_source *resume; /* ends a pause of the listener */
	const struct query_method *methods;
	void *userdata; /* of the methods */
	struct policy_query limits;
	struct query_client *clients;
	sd_event_source *flush; /* sends published messages a moment later */
};

/* peer.c: the server's clients. */

/* Monotonic time of this turn of the loop. */
uint64_t query_server_now_us(const struct query_server *server);

/* Makes a timer, which is off, of the priority of the server's work. Returns 0 or as sd_event. */
int query_server_add_timer(struct query_server *server, sd_event_source **ret,
			   sd_event_time_handler_t handler, void *userdata);
/* Lets the timer go off once, after that time. */
int query_timer_start(sd_event_source *timer, uint64_t after_us);

/* Unlinks, closes and frees; why goes to the debug log. */
void query_client_drop(struct query_client *client, const char *why);

/* Returns 1 when data came, 0 when not, -ESHUTDOWN at the end, or another error. */
int query_client_receive(struct query_client *client);

/*
 * Finds a place for a newcomer; if none is free, drops a client that must yield. Returns 0, or
 * -EUSERS if the newcomer must go.
 */
int query_server_admit(struct query_server *server, const struct query_peer *newcomer);

/* client.c: links a client into its server; owns fd on success. Returns 0 or a negative errno. */
int query_client_new(struct query_server *server, int fd, const struct query_peer *peer);

/* Handler of the timer that is armed when a message is published. */
int query_server_flush(sd_event_source *source, uint64_t usec, void *userdata);
