// SPDX-License-Identifier: GPL-2.0-only
/* One call to a Varlink service, with a deadline for all of it. */
#include "varlink/caller.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "shared/cleanup.h"
#include "shared/time.h"
#include "varlink/buffer.h"

#define REPLY_BYTES_MAX	 (64u * 1024 * 1024)
#define CALL_BYTES_MAX	 (64u * 1024)
#define CONNECT_RETRY_MS 10

uint64_t caller_deadline(uint64_t timeout_ns)
{
	return time_now_ns() + timeout_ns;
}

/* Waits until fd is ready, or for max_ms where it is not negative. */
static int wait_for(int fd, short events, uint64_t deadline_ns, int max_ms)
{
	struct pollfd descriptor = { .fd = fd, .events = events };
	uint64_t now = time_now_ns(), left_ms;
	int timeout_ms;

	if (now >= deadline_ns)
		return -ETIMEDOUT;

	left_ms = (deadline_ns - now + NS_PER_MS - 1) / NS_PER_MS;
	timeout_ms = left_ms > INT_MAX ? INT_MAX : (int)left_ms;
	if (max_ms >= 0 && timeout_ms > max_ms)
		timeout_ms = max_ms;
	if (poll(&descriptor, 1, timeout_ms) < 0 && errno != EINTR)
		return -errno;
	return 0;
}

int caller_open(const char *path, uint64_t deadline_ns)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int r;

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;

	strcpy(address.sun_path, path);
	while (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		/* EAGAIN means a full backlog, for which poll() cannot wait. */
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		r = wait_for(-1, 0, deadline_ns, CONNECT_RETRY_MS);
		if (r < 0)
			return r;
	}
	return take_fd(&fd);
}

/* Without waiting for its reply. */
static int send_call(int fd, const char *method, json_t *parameters, bool more,
		     uint64_t deadline_ns)
{
	json_auto_t *message = json_pack("{ss so* so*}", "method", method, "parameters", parameters,
					 "more", more ? json_true() : NULL);
	_cleanup_free_ char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	struct buffer call = { .max = CALL_BYTES_MAX };
	int r;

	if (!text)
		return -ENOMEM;

	r = buffer_append(&call, text, strlen(text) + 1);
	while (!r && call.length) {
		r = buffer_send(&call, fd);
		if (r == -EAGAIN)
			r = wait_for(fd, POLLOUT, deadline_ns, -1);
	}
	buffer_deinit(&call);
	return r;
}

/* Waits for the next reply. Returns 0, or an error of caller_call(). */
static int receive_reply(int fd, struct frame_reader *reader, uint64_t deadline_ns, json_t **ret)
{
	const char *message;
	json_t *reply;
	size_t length;
	int r;

	frame_reader_set_max(reader, REPLY_BYTES_MAX);
	while (!(r = frame_reader_peek(reader, &message, &length))) {
		ssize_t n = buffer_receive(&reader->input, fd);

		if (!n)
			return -ECONNRESET;
		if (n < 0 && n != -EAGAIN && n != -EINTR)
			return (int)n;
		if (n < 0) {
			r = wait_for(fd, POLLIN, deadline_ns, -1);
			if (r < 0)
				return r;
		}
	}
	if (r < 0)
		return -EBADMSG;
	reply = json_loadb(message, length, JSON_REJECT_DUPLICATES, NULL);
	frame_reader_pop(reader, length);
	if (!json_is_object(reply) || (!json_is_string(json_object_get(reply, "error")) &&
				       !json_is_object(json_object_get(reply, "parameters")))) {
		json_decref(reply);
		return -EBADMSG;
	}
	*ret = reply;
	return 0;
}

int caller_call(int fd, const char *method, json_t *parameters, uint64_t deadline_ns,
		json_t **ret_reply)
{
	_cleanup_(frame_reader_deinit) struct frame_reader reader = { 0 };
	int r = send_call(fd, method, parameters, false, deadline_ns);

	return r < 0 ? r : receive_reply(fd, &reader, deadline_ns, ret_reply);
}

int caller_stream(int fd, const char *method, json_t *parameters,
		  int (*take)(void *context, const json_t *reply), void *context)
{
	_cleanup_(frame_reader_deinit) struct frame_reader reader = { 0 };
	int r = send_call(fd, method, parameters, true, UINT64_MAX);

	while (!r) {
		json_auto_t *reply = NULL;

		r = receive_reply(fd, &reader, UINT64_MAX, &reply);
		if (r == 0)
			r = take(context, reply);
	}
	return r;
}
