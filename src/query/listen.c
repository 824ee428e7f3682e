// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "query/server.h"
#include "shared/cleanup.h"

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

/* Returns 0 if the path is free or a socket on which nobody listens. */
static int check_free(const char *path)
{
	_cleanup_close_ int fd = -1;
	struct sockaddr_un address;
	struct stat status;
	int r;

	if (lstat(path, &status) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(status.st_mode))
		return -EEXIST;

	r = set_address(&address, path);
	if (r < 0)
		return r;
	fd = open_socket();
	if (fd < 0)
		return fd;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) >= 0)
		return -EADDRINUSE;
	/* EAGAIN is a full backlog: somebody listens. */
	if (errno == EAGAIN)
		return -EADDRINUSE;
	return errno == ECONNREFUSED ? 0 : -errno;
}

static int bind_and_listen(int fd, const char *path)
{
	struct sockaddr_un address;
	int r = set_address(&address, path);

	if (r < 0)
		return r;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (chmod(path, 0666) < 0 || listen(fd, BACKLOG) < 0) {
		r = -errno;
		unlink(path);
	}
	return r;
}

/*
 * The socket is made under another name and moved into place when it listens, so that no client
 * ever finds one that refuses it.
 */
int query_listen(const char *path)
{
	_cleanup_close_ int fd = -1;
	char temporary[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	int r;

	r = snprintf(temporary, sizeof(temporary), "%s.new", path);
	if (r >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	r = check_free(path);
	if (r < 0)
		return r;
	fd = open_socket();
	if (fd < 0)
		return fd;

	/* Left by a daemon that died half way. */
	unlink(temporary);
	r = bind_and_listen(fd, temporary);
	if (r < 0)
		return r;
	if (rename(temporary, path) < 0) {
		r = -errno;
		unlink(temporary);
		return r;
	}
	return take_fd(&fd);
}
