/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#pragma once

/*
 * A program says what it is: of which class of wakegov's policy, such as "background", "utility" or
 * "user-interactive" ('wakegovctl hint classes' lists them).
 *
 *	int hint = wakegov_hint("background");
 *	...
 *	close(hint);
 *
 * The hint is for the calling process with all its threads, and, where the class says so, for what
 * it starts. It holds until the descriptor is closed, or the process and all that has inherited it
 * has ended. Nothing needs to be linked.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define WAKEGOV_SOCKET "/run/wakegov/io.wakegov"

/* Whether the whole reply, which ends with a NUL, came and is no error. */
static inline int wakegov_hint_is_taken(int fd)
{
	char reply[4096];
	size_t length = 0;
	ssize_t n;

	while (length < sizeof(reply) - 1 && !memchr(reply, '\0', length)) {
		n = recv(fd, reply + length, sizeof(reply) - 1 - length, 0);
		if (n <= 0)
			return 0;
		length += (size_t)n;
	}
	reply[length] = '\0';
	return !strstr(reply, "\"error\"");
}

/*
 * Returns a descriptor, which is not inherited by exec, or a negative errno: -ENOENT or
 * -ECONNREFUSED where no wakegovd runs, -EINVAL for no class' name, -EACCES where it refuses, as it
 * does for a class that it has not, and -EIO for none of these. Waits for two seconds at most.
 */
static inline int wakegov_hint(const char *class_name)
{
	struct timeval patience;
	struct sockaddr_un address;
	char call[256];
	int fd, n, error;

	/* Names of classes are letters, digits and -_.@: only: there is nothing to escape. */
	n = snprintf(call, sizeof(call),
		     "{\"method\":\"io.wakegov.HoldHint\",\"more\":true,"
		     "\"parameters\":{\"class\":\"%s\"}}",
		     class_name);
	if (n < 0 || (size_t)n >= sizeof(call) || strpbrk(class_name, "\"\\\n"))
		return -EINVAL;
	memset(&patience, 0, sizeof(patience));
	patience.tv_sec = 2;
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path, WAKEGOV_SOCKET, sizeof(WAKEGOV_SOCKET));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		error = -errno;
	else if (send(fd, call, (size_t)n + 1, MSG_NOSIGNAL) != n + 1)
		error = -EIO;
	else if (!wakegov_hint_is_taken(fd))
		error = -EACCES;
	else
		return fd;
	close(fd);
	return error;
}
