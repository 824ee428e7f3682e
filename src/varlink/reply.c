// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/reply.h"

#include <errno.h>

#include "varlink/field.h"

void reply_init(struct reply *reply, struct buffer *output, bool oneway)
{
	reply->output = output;
	reply->mark = output->length;
	reply->continues = false;
	json_out_init(&reply->out, oneway ? NULL : output);
}

void reply_cancel(struct reply *reply)
{
	buffer_truncate(reply->output, reply->mark);
	reply->continues = false;
	json_out_init(&reply->out, reply->out.buffer);
}

struct json_out *reply_begin(struct reply *reply)
{
	json_out_open(&reply->out, '{');
	json_out_key(&reply->out, "parameters");
	json_out_open(&reply->out, '{');
	return &reply->out;
}

struct json_out *reply_begin_error(struct reply *reply, const char *name)
{
	json_out_open(&reply->out, '{');
	json_out_key(&reply->out, "error");
	json_out_text(&reply->out, name);
	json_out_key(&reply->out, "parameters");
	json_out_open(&reply->out, '{');
	return &reply->out;
}

static int end_message(struct reply *reply)
{
	struct json_out *out = &reply->out;
	int r;

	if (reply->continues) {
		json_out_key(out, "continues");
		json_out_bool(out, true);
	}
	json_out_close(out, '}');
	r = json_out_flush(out);
	if (r < 0 || !out->buffer)
		return r;
	return buffer_append(out->buffer, "", 1);
}

int reply_end(struct reply *reply)
{
	json_out_close(&reply->out, '}');
	return end_message(reply);
}

static int dump_piece(const char *piece, size_t length, void *userdata)
{
	struct json_out *out = userdata;

	/* The tree's text has its own commas. */
	out->separate = false;
	json_out_raw(out, piece, length);
	return out->error;
}

/* Consumes value, which belongs to the present key. */
static int put_tree(struct reply *reply, json_t *value)
{
	int r = value ? 0 : -ENOMEM;

	if (value && json_dump_callback(value, dump_piece, &reply->out,
					JSON_COMPACT | JSON_ENSURE_ASCII) < 0)
		r = reply->out.error ? reply->out.error : -ENOMEM;
	json_decref(value);
	return r < 0 ? r : end_message(reply);
}

int reply_send(struct reply *reply, json_t *parameters)
{
	json_out_open(&reply->out, '{');
	json_out_key(&reply->out, "parameters");
	return put_tree(reply, parameters);
}

int reply_send_error(struct reply *reply, const char *name, json_t *parameters)
{
	json_out_open(&reply->out, '{');
	json_out_key(&reply->out, "error");
	json_out_text(&reply->out, name);
	json_out_key(&reply->out, "parameters");
	return put_tree(reply, parameters);
}

int reply_send_invalid(struct reply *reply, const char *parameter)
{
	struct json_out *out = reply_begin_error(reply, "org.varlink.service.InvalidParameter");

	field_text(out, "parameter", parameter);
	return reply_end(reply);
}
