/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The Varlink server on a Unix socket: io.wakegov and org.varlink.service (varlink.org). One
 * thread, on the daemon's event loop; it never blocks on a client.
 */

#include <systemd/sd-event.h>

#include "core/policy.h"
#include "query/view.h"

struct query_server;

/*
 * Takes over listen_fd (a listening AF_UNIX stream socket) on success. source is borrowed and must
 * outlive the server. Returns 0 or a negative errno.
 */
int query_server_new(sd_event *event, int listen_fd, const struct query_source *source,
		     const struct policy_query *limits, struct query_server **ret);

/* New limits after a reload; clients that are connected keep their places. */
void query_server_set_limits(struct query_server *server, const struct policy_query *limits);

/* Closes every client and the listening socket. Returns NULL. */
struct query_server *query_server_free(struct query_server *server);

/*
 * Binds and listens on path (mode 0666: privileges are judged by peer credentials). A stale socket
 * of a dead daemon is replaced; one that somebody answers on gives -EADDRINUSE; a path that is not
 * a socket gives -EEXIST and is left alone. Returns a descriptor or a negative errno.
 */
int query_listen(const char *path);
