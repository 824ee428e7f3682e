// SPDX-License-Identifier: GPL-2.0-only
#include "query/reply.h"

#include <errno.h>
#include <string.h>

void reply_init(struct reply *reply, struct buffer *output, bool oneway)
{
	*reply = (struct reply){ .output = output, .mark = output->length, .silent = oneway };
}

void reply_cancel(struct reply *reply)
{
	buffer_truncate(reply->output, reply->mark);
	reply->elements = 0;
}

static int append_text(struct reply *reply, const char *text)
{
	return reply->silent ? 0 : buffer_append(reply->output, text, strlen(text));
}

struct dump {
	struct buffer *output;
	int error;
};

static int dump_piece(const char *piece, size_t length, void *userdata)
{
	struct dump *dump = userdata;

	dump->error = buffer_append(dump->output, piece, length);
	return dump->error;
}

/* Consumes value. */
static int append_json(struct reply *reply, json_t *value)
{
	struct dump dump = { .output = reply->output };
	int r = 0;

	if (!value)
		return -ENOMEM;

	if (!reply->silent && json_dump_callback(value, dump_piece, &dump, JSON_COMPACT) < 0)
		r = dump.error ? dump.error : -ENOMEM;
	json_decref(value);
	return r;
}

/* Consumes message. */
static int send_message(struct reply *reply, json_t *message)
{
	int r = append_json(reply, message);

	if (r < 0 || reply->silent)
		return r;
	return buffer_append(reply->output, "", 1);
}

int reply_send(struct reply *reply, json_t *parameters)
{
	return send_message(reply, json_pack("{so}", "parameters", parameters));
}

int reply_send_error(struct reply *reply, const char *name, json_t *parameters)
{
	return send_message(reply, json_pack("{ss so}", "error", name, "parameters", parameters));
}

int reply_send_invalid(struct reply *reply, const char *parameter)
{
	return reply_send_error(reply, "org.varlink.service.InvalidParameter",
				json_pack("{ss}", "parameter", parameter));
}

int reply_begin_list(struct reply *reply, const char *key)
{
	int r = append_text(reply, "{\"parameters\":{\"");

	if (!r)
		r = append_text(reply, key);
	if (!r)
		r = append_text(reply, "\":[");
	return r;
}

int reply_add_element(struct reply *reply, json_t *element)
{
	int r = 0;

	if (reply->elements++)
		r = append_text(reply, ",");
	if (r < 0) {
		json_decref(element);
		return r;
	}
	return append_json(reply, element);
}

int reply_end_list(struct reply *reply)
{
	int r = append_text(reply, "]}}");

	if (r < 0 || reply->silent)
		return r;
	return buffer_append(reply->output, "", 1);
}
