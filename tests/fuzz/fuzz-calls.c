// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever a client sends: bytes that come in pieces, cut into messages, each answered as the
 * server does. The first byte says who asks, the second how long the pieces are. A reply is to be
 * one JSON object with its NUL, or none.
 */
#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "canned_daemon.h"
#include "daemon/api/api.h"
#include "varlink/buffer.h"
#include "varlink/call.h"

#define MESSAGE_MAX (16 * 1024)
#define REPLY_MAX   (256 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_replies(struct buffer *output)
{
	while (output->length) {
		size_t length = strnlen(buffer_bytes(output), output->length);
		json_t *reply = json_loadb(buffer_bytes(output), length, 0, NULL);

		if (length == output->length || !json_is_object(reply))
			abort();
		json_decref(reply);
		buffer_consume(output, length + 1);
	}
}

/* Returns what ends the connection, or 0. */
static int answer_all(const struct call *call, struct frame_reader *calls)
{
	struct buffer output = { .max = REPLY_MAX };
	const char *message;
	size_t length;
	int r;

	while ((r = frame_reader_peek(calls, &message, &length)) > 0) {
		r = query_dispatch(api_methods, call, message, length, &output);
		if (r != 0 && r != -EBADMSG && r != -EMSGSIZE)
			abort();
		if (r == 0)
			check_replies(&output);
		if (r < 0)
			break;
		frame_reader_pop(calls, length);
	}
	buffer_deinit(&output);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Made once: what one input leaves behind, the next one finds. */
	static struct canned_daemon canned = {
		.n_domains = 3, .n_tasks = 20, .n_devices = 2, .n_decisions = 9
	};
	struct subscription subscription = { 0 };
	struct frame_reader calls = { 0 };
	uint8_t who = size ? data[0] : 0;
	const struct query_peer peer = {
		.shares_pids = true,
		.uid = who,
		.is_owner = who & 1,
		.may_read = who & 2,
		.may_change = who & 4,
		.sees_all = who & 8,
	};
	const struct call call = {
		.userdata = &canned.manager,
		.peer = &peer,
		.subscription = &subscription,
	};
	int r = 0;

	if (size < 2)
		return 0;
	if (!canned.manager.core.topology && canned_daemon_init(&canned) < 0)
		abort();
	frame_reader_set_max(&calls, MESSAGE_MAX);
	for (size_t at = 2, n; at < size && r == 0; at += n) {
		n = data[1] + 1U < size - at ? data[1] + 1U : size - at;
		r = buffer_append(&calls.input, data + at, n);
		if (r == 0)
			r = answer_all(&call, &calls);
	}
	channel_unsubscribe(&subscription);
	frame_reader_deinit(&calls);
	return 0;
}
