/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One call to a Varlink service on a Unix socket, with a deadline for the whole of it. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Where wakegovd listens unless told otherwise. */
#define QUERY_SOCKET_PATH "/run/wakegov/io.wakegov"

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t caller_deadline(uint64_t timeout_ns);

/*
 * Returns a descriptor, or a negative errno: -ENOENT and -ECONNREFUSED where no daemon is,
 * -EACCES without the right to, -ETIMEDOUT.
 */
int caller_open(const char *path, uint64_t deadline_ns);

/* Sends a call, and waits for nothing. Consumes parameters. Returns 0, or as the next. */
int caller_send(int fd, const char *method, json_t *parameters, bool more, uint64_t deadline_ns);

/*
 * Calls method and waits for its one reply, which the caller owns: an object with either
 * "parameters" or "error". Consumes parameters, NULL for none. Returns 0; -ETIMEDOUT; -ECONNRESET
 * or -EPIPE if the other side hung up; -EBADMSG if it sent something else than a reply; another
 * negative errno.
 */
int caller_call(int fd, const char *method, json_t *parameters, uint64_t deadline_ns,
		json_t **ret_reply);

/*
 * Calls a method that goes on replying (more) and hands each reply, as above, to take, without any
 * deadline, until it returns something else than 0. Returns that, or a negative errno as above.
 */
int caller_stream(int fd, const char *method, json_t *parameters,
		  int (*take)(void *context, const json_t *reply), void *context);
