// SPDX-License-Identifier: GPL-2.0-only
/* The server's socket and its event sources, below the governor's own work. */
#include "varlink/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/log.h"
#include "varlink/caller.h"
#include "varlink/client.h"

#define BACKLOG		 64
#define ACCEPTS_PER_TURN 16
#define ACCEPT_PAUSE_US	 1000000

static int on_resume(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct query_server *server = userdata;

	return sd_event_source_set_enabled(server->listener, SD_EVENT_ON);
}

/*
 * Out of descriptors or memory: the connection stays in the backlog, and the socket readable, so
 * the loop would spin without a pause.
 */
static int pause_listener(struct query_server *server, int error)
{
	int r;

	log_debug("Cannot accept a client, pausing: %s.", strerror(-error));

	r = sd_event_source_set_enabled(server->listener, SD_EVENT_OFF);
	if (r >= 0)
		r = query_timer_start(server->resume, ACCEPT_PAUSE_US);
	return r;
}

static int on_connection(sd_event_source *source, int listen_fd, uint32_t revents, void *userdata)
{
	struct query_server *server = userdata;

	for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct query_peer peer;
		int r;

		if (fd < 0 &&
		    (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
			return pause_listener(server, -errno);
		if (fd < 0)
			return 0;

		r = query_peer_judge(&peer, fd, &server->limits);
		if (r >= 0)
			r = query_server_admit(server, &peer);
		if (r >= 0)
			r = query_client_new(server, fd, &peer);
		if (r < 0) {
			log_debug("Newcomer closed: %s.", strerror(-r));
			close(fd);
		}
	}
	return 0;
}

static void server_freep(struct query_server **server)
{
	query_server_free(*server);
}

int query_server_new(sd_event *event, int listen_fd, const struct query_method *methods,
		     void *userdata, const struct policy_query *limits, struct query_server **ret)
{
	_cleanup_(server_freep) struct query_server *server = calloc(1, sizeof(*server));
	int flags = fcntl(listen_fd, F_GETFL), r;

	if (!server)
		return -ENOMEM;

	*server = (struct query_server){
		.event = sd_event_ref(event),
		.listen_fd = -1,
		.methods = methods,
		.userdata = userdata,
		.limits = *limits,
	};
	/* Created while descriptors are available: the first timer of a loop needs one. */
	r = query_server_add_timer(server, &server->resume, on_resume, server);
	if (r >= 0)
		r = query_server_add_timer(server, &server->flush, query_server_flush, server);
	if (r >= 0 && (flags < 0 || fcntl(listen_fd, F_SETFL, flags | O_NONBLOCK) < 0))
		r = -errno;
	if (r >= 0)
		r = sd_event_add_io(server->event, &server->listener, listen_fd, EPOLLIN,
				    on_connection, server);
	if (r >= 0)
		r = sd_event_source_set_priority(server->listener, SD_EVENT_PRIORITY_IDLE);
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

/* Removes a stale socket, or returns why the path is occupied. */
static int remove_stale(const char *path)
{
	_cleanup_close_ int fd = -1;
	struct stat status;

	if (lstat(path, &status) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(status.st_mode))
		return -EEXIST;
	/* A process listens there if it accepts at once, or if its backlog is full. */
	fd = caller_open(path, 0);
	if (fd >= 0 || fd == -ETIMEDOUT)
		return -EADDRINUSE;
	if (fd != -ECONNREFUSED)
		return fd;
	return unlink(path) < 0 ? -errno : 0;
}

/* Binds under another name until it listens, so that a client that sees the socket can connect. */
int query_listen(const char *path)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int r = fd < 0 ? -errno : remove_stale(path);

	if (r < 0)
		return r;
	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s.new", path) >=
	    (int)sizeof(address.sun_path))
		return -ENAMETOOLONG;
	unlink(address.sun_path); /* left by a daemon that was killed here */
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (chmod(address.sun_path, 0666) < 0 || listen(fd, BACKLOG) < 0 ||
	    rename(address.sun_path, path) < 0) {
		r = -errno;
		unlink(address.sun_path);
		return r;
	}
	return take_fd(&fd);
}
