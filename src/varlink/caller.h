/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One call to a Varlink service on a Unix socket, with a deadline for all of it. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Where wakegovd listens unless told otherwise. */
#define QUERY_SOCKET_PATH "/run/wakegov/io.wakegov"

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t caller_deadline(uint64_t timeout_ns);

/*
 * Connects. Returns a descriptor, or a negative errno: -ENOENT and -ECONNREFUSED without a daemon,
 * -EACCES without the right, -ETIMEDOUT.
 */
int caller_open(const char *path, uint64_t deadline_ns);

/*
 * Calls a method and waits for its reply, which the caller owns: an object with either "parameters"
 * or "error". Consumes parameters, NULL for none. Returns 0; -ETIMEDOUT; -ECONNRESET or -EPIPE if
 * the other side hung up; -EBADMSG if it sent no reply; another negative errno.
 */
int caller_call(int fd, const char *method, json_t *parameters, uint64_t deadline_ns,
		json_t **ret_reply);

/*
 * Calls a method with several replies ("more") and passes each to take, without a deadline, until
 * take returns something other than 0. Returns that, or an error of caller_call().
 */
int caller_stream(int fd, const char *method, json_t *parameters,
		  int (*take)(void *context, const json_t *reply), void *context);
