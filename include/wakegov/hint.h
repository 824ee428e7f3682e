/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#pragma once

/*
 * A program tells wakegov its class, such as "background", "utility" or "user-interactive"
 * ('wakegovctl hint classes' lists the policy's classes).
 *
 *	int hint = wakegov_hint("background");
 *	...
 *	close(hint);
 *
 * The hint covers the calling process with all its threads and, if the class says so, the processes
 * that it starts. It ends when the descriptor is closed, or when the process and all processes that
 * inherited the descriptor have ended. There is no library to link.
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
 * Returns a descriptor, which exec does not inherit, or a negative errno: -ENOENT or -ECONNREFUSED
 * without a running wakegovd, -EINVAL if class_name cannot be a class, -EACCES if wakegovd refuses,
 * also for an unknown class, and -EIO otherwise. Waits for two seconds at most.
 */
static inline int wakegov_hint(const char *class_name)
{
	struct timeval patience;
	struct sockaddr_un address;
	char call[256];
	int fd, n, error;

	/* Names of classes consist of letters, digits and -_.@: only, so nothing needs escaping. */
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
