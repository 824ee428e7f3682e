// SPDX-License-Identifier: GPL-2.0-only
/* Writes a reply's JSON straight into a bounded buffer. */
#include "varlink/reply.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "shared/text.h"

#define SMALL	       128
#define REPLACEMENT    "\xef\xbf\xbd"
#define UTF8_BYTES_MAX 4 /* of a character */

void json_out_init(struct json_out *out, struct buffer *buffer)
{
	out->buffer = buffer;
	out->error = 0;
	out->separate = false;
	out->used = 0;
}

int json_out_flush(struct json_out *out)
{
	if (!out->error && out->buffer)
		out->error = buffer_append(out->buffer, out->scratch, out->used);
	out->used = 0;
	return out->error;
}

/* Makes room for this number of bytes, at most SMALL; the caller reports how many it used. */
static char *make_room(struct json_out *out, size_t length)
{
	if (length > sizeof(out->scratch) - out->used)
		json_out_flush(out);
	return out->scratch + out->used;
}

static void put(struct json_out *out, const char *text, size_t length)
{
	char *room = make_room(out, length);

	if (length > sizeof(out->scratch)) {
		if (!out->error && out->buffer)
			out->error = buffer_append(out->buffer, text, length);
		return;
	}
	memcpy(room, text, length);
	out->used += length;
}

static void separate(struct json_out *out)
{
	if (out->separate)
		put(out, ",", 1);
	out->separate = true;
}

void json_out_open(struct json_out *out, char bracket)
{
	separate(out);
	put(out, &bracket, 1);
	out->separate = false;
}

void json_out_close(struct json_out *out, char bracket)
{
	put(out, &bracket, 1);
	out->separate = true;
}

void json_out_key(struct json_out *out, const char *key)
{
	size_t length = strlen(key);
	char *room;

	assert(length <= SMALL - 4);
	room = make_room(out, SMALL);
	if (out->separate)
		*room++ = ',';
	*room++ = '"';
	room = mempcpy(room, key, length);
	*room++ = '"';
	*room++ = ':';
	out->used = room - out->scratch;
	out->separate = false;
}

static void put_value(struct json_out *out, const char *key, const char *text, size_t length)
{
	if (key)
		json_out_key(out, key);
	separate(out);
	put(out, text, length);
}

void field_null(struct json_out *out, const char *key)
{
	put_value(out, key, "null", 4);
}

void field_json(struct json_out *out, const char *key, const char *json)
{
	put_value(out, key, json, strlen(json));
}

void field_bool(struct json_out *out, const char *key, bool value)
{
	put_value(out, key, value ? "true" : "false", value ? 4 : 5);
}

/* printf() is most of the cost of a reply with thousands of numbers. */
void field_count(struct json_out *out, const char *key, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	if (value > INT64_MAX)
		value = INT64_MAX;
	do {
		digits[--at] = '0' + value % 10;
		value /= 10;
	} while (value);
	put_value(out, key, digits + at, sizeof(digits) - at);
}

/* A character that JSON or text.h requires escaped: as \uXXXX, two of them above four digits. */
static void put_character(struct json_out *out, const char *text, struct text_character c)
{
	char escape[16];
	int n;

	if (c.kind == TEXT_INVALID) {
		put(out, REPLACEMENT, strlen(REPLACEMENT));
	} else if (c.kind == TEXT_UNSAFE) {
		n = c.code > 0xffff ? snprintf(escape, sizeof(escape), "\\u%04x\\u%04x",
					       0xd7c0 + (c.code >> 10), 0xdc00 + (c.code & 0x3ff))
				    : snprintf(escape, sizeof(escape), "\\u%04x", c.code);
		put(out, escape, n);
	} else if (c.code == '"' || c.code == '\\') {
		put(out, c.code == '"' ? "\\\"" : "\\\\", 2);
	} else {
		put(out, text, c.length);
	}
}

/* Most texts are plain: copy them in one piece. */
void field_text(struct json_out *out, const char *key, const char *text)
{
	if (!text) {
		field_null(out, key);
		return;
	}
	put_value(out, key, "\"", 1);
	for (;;) {
		const char *plain = text;
		struct text_character c;

		while (*text >= 0x20 && *text < 0x7f && *text != '"' && *text != '\\')
			text++;
		put(out, plain, text - plain);
		if (!*text)
			break;
		c = text_first(text, strnlen(text, UTF8_BYTES_MAX));
		put_character(out, text, c);
		text += c.length;
	}
	put(out, "\"", 1);
}

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

/* Everything up to the value of "parameters"; name is NULL for an ordinary reply. */
static void begin_message(struct reply *reply, const char *name)
{
	json_out_open(&reply->out, '{');
	if (name)
		field_text(&reply->out, "error", name);
	json_out_key(&reply->out, "parameters");
}

static int end_message(struct reply *reply)
{
	struct json_out *out = &reply->out;
	int r;

	if (reply->continues)
		field_bool(out, "continues", true);
	json_out_close(out, '}');
	r = json_out_flush(out);
	if (r < 0 || !out->buffer)
		return r;
	return buffer_append(out->buffer, "", 1);
}

struct json_out *reply_begin_error(struct reply *reply, const char *name)
{
	begin_message(reply, name);
	json_out_open(&reply->out, '{');
	return &reply->out;
}

struct json_out *reply_begin(struct reply *reply)
{
	return reply_begin_error(reply, NULL);
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
	put(out, piece, length);
	out->separate = true;
	return out->error;
}

int reply_send_error(struct reply *reply, const char *name, json_t *parameters)
{
	int r = parameters ? 0 : -ENOMEM;

	begin_message(reply, name);
	if (parameters && json_dump_callback(parameters, dump_piece, &reply->out,
					     JSON_COMPACT | JSON_ENSURE_ASCII) < 0)
		r = reply->out.error ? reply->out.error : -ENOMEM;
	json_decref(parameters);
	return r < 0 ? r : end_message(reply);
}

int reply_send(struct reply *reply, json_t *parameters)
{
	return reply_send_error(reply, NULL, parameters);
}

int reply_send_invalid(struct reply *reply, const char *parameter)
{
	return reply_send_error(reply, "org.varlink.service.InvalidParameter",
				json_pack("{ss}", "parameter", parameter));
}
