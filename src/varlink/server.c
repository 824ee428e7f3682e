// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "shared/cleanup.h"
#include "shared/log.h"
#include "varlink/client.h"

#define ACCEPTS_PER_TURN  16
#define ACCEPT_PAUSE_US	  1000000
#define TIMER_ACCURACY_US 10000

static int on_resume(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct query_server *server = userdata;

	return sd_event_source_set_enabled(server->listener, SD_EVENT_ON);
}

/*
 * Out of descriptors or memory: the connection stays in the backlog, and the socket readable, so
 * that without a pause the loop would spin.
 */
static int pause_listener(struct query_server *server, int error)
{
	int r;

	log_debug("Cannot accept a client, pausing: %s.", strerror(-error));

	r = sd_event_source_set_enabled(server->listener, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_source_set_time_relative(server->resume, ACCEPT_PAUSE_US);
	if (r >= 0)
		r = sd_event_source_set_enabled(server->resume, SD_EVENT_ONESHOT);
	return r;
}

static int prepare_timer(struct query_server *server, sd_event_source **ret,
			 sd_event_time_handler_t handler)
{
	int r = sd_event_add_time_relative(server->event, ret, CLOCK_MONOTONIC, 0,
					   TIMER_ACCURACY_US, handler, server);

	if (r >= 0)
		r = sd_event_source_set_priority(*ret, SD_EVENT_PRIORITY_IDLE);
	return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

/* Created while there are descriptors: the first timer of a loop needs one. */
static int prepare_timers(struct query_server *server)
{
	int r = prepare_timer(server, &server->resume, on_resume);

	return r < 0 ? r : prepare_timer(server, &server->flush, query_server_flush);
}

static int admit_client(struct query_server *server, int taken_fd)
{
	_cleanup_close_ int fd = taken_fd;
	struct query_peer peer;
	int r;

	r = query_peer_judge(&peer, fd, &server->limits);
	if (r >= 0)
		r = query_server_admit(server, &peer);
	if (r < 0)
		return r;

	r = query_client_new(server, fd, &peer);
	if (r >= 0)
		take_fd(&fd);
	return r;
}

static bool is_shortage(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM;
}

static int on_connection(sd_event_source *source, int listen_fd, uint32_t revents, void *userdata)
{
	struct query_server *server = userdata;

	for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		int r;

		if (fd < 0 && is_shortage(-errno))
			return pause_listener(server, -errno);
		if (fd < 0)
			return 0;

		r = admit_client(server, fd);
		if (r < 0)
			log_debug("Newcomer closed: %s.", strerror(-r));
	}
	return 0;
}

static int start_listening(struct query_server *server, int listen_fd)
{
	int flags = fcntl(listen_fd, F_GETFL);
	int r;

	if (flags < 0 || fcntl(listen_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;

	r = sd_event_add_io(server->event, &server->listener, listen_fd, EPOLLIN, on_connection,
			    server);
	if (r < 0)
		return r;
	return sd_event_source_set_priority(server->listener, SD_EVENT_PRIORITY_IDLE);
}

static void server_freep(struct query_server **server)
{
	query_server_free(*server);
}

int query_server_new(sd_event *event, int listen_fd, const struct query_method *methods,
		     void *userdata, const struct policy_query *limits, struct query_server **ret)
{
	_cleanup_(server_freep) struct query_server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return -ENOMEM;

	*server = (struct query_server){
		.event = sd_event_ref(event),
		.listen_fd = -1,
		.methods = methods,
		.userdata = userdata,
		.limits = *limits,
	};
	r = prepare_timers(server);
	if (r >= 0)
		r = start_listening(server, listen_fd);
	if (r < 0)
		return r;

	server->listen_fd = listen_fd;
	*ret = take_ptr(server);
	return 0;
}

void query_server_set_limits(struct query_server *server, const struct policy_query *limits)
{
	struct query_client *client, *next;

	server->limits = *limits;
	for (client = server->clients; client; client = next) {
		int r = query_peer_judge(&client->peer, client->fd, limits);

		next = client->next;
		if (r < 0)
			query_client_drop(client, strerror(-r));
	}
}

struct query_server *query_server_free(struct query_server *server)
{
	if (!server)
		return NULL;

	while (server->clients)
		query_client_drop(server->clients, "the server ends");
	sd_event_source_disable_unref(server->listener);
	sd_event_source_disable_unref(server->resume);
	sd_event_source_disable_unref(server->flush);
	if (server->listen_fd >= 0)
		close(server->listen_fd);
	sd_event_unref(server->event);
	free(server);
	return NULL;
}
