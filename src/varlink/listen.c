// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "varlink/server.h"

#define BACKLOG 64

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

static int set_address(struct sockaddr_un *address, const char *path)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path))
		return -ENAMETOOLONG;

	strcpy(address->sun_path, path);
	return 0;
}

/* Returns whether a process listens on the socket, or a negative errno. */
static int is_live(const char *path)
{
	_cleanup_close_ int fd = -1;
	struct sockaddr_un address;
	int r;

	r = set_address(&address, path);
	if (r < 0)
		return r;
	fd = open_socket();
	if (fd < 0)
		return fd;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) >= 0)
		return 1;
	/* EAGAIN means a full backlog. */
	if (errno == EAGAIN)
		return 1;
	return errno == ECONNREFUSED ? 0 : -errno;
}

/* Removes a stale socket, or says why the path is not free. */
static int remove_stale(const char *path)
{
	struct stat status;
	int r;

	if (lstat(path, &status) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(status.st_mode))
		return -EEXIST;

	r = is_live(path);
	if (r < 0)
		return r;
	if (r)
		return -EADDRINUSE;
	return unlink(path) < 0 ? -errno : 0;
}

/* Binds under another name until it listens, so that a client that sees the socket can connect. */
static int bind_and_listen(int fd, const char *path)
{
	_cleanup_free_ char *early = NULL;
	struct sockaddr_un address;
	int r;

	if (asprintf(&early, "%s.new", path) < 0)
		return -ENOMEM;
	r = set_address(&address, early);
	if (r < 0)
		return r;
	unlink(early); /* left by a daemon that was killed here */
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (chmod(early, 0666) < 0 || listen(fd, BACKLOG) < 0 || rename(early, path) < 0) {
		r = -errno;
		unlink(early);
	}
	return r;
}

int query_listen(const char *path)
{
	_cleanup_close_ int fd = -1;
	int r;

	r = remove_stale(path);
	if (r < 0)
		return r;
	fd = open_socket();
	if (fd < 0)
		return fd;
	r = bind_and_listen(fd, path);
	return r < 0 ? r : take_fd(&fd);
}
