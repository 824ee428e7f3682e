// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

#include <errno.h>
#include <string.h>

#include "shared/cleanup.h"
#include "varlink/call.h"
#include "varlink/reply.h"

#define MAX_BYTES (64 * 1024)

enum who { STRANGER, READER, OWNER };

/* What the methods below do is up to this: call->userdata. */
struct world {
	uint32_t n; /* elements of List */
	int error;  /* of Fail */
	uint32_t changes;
	struct channel channel; /* of Stream */
};

static int list(const struct call *call, struct reply *reply)
{
	const struct world *world = call->userdata;
	struct json_out *out = reply_begin(reply);

	field_open(out, "list", '[');
	for (uint32_t i = 0; i < world->n; i++) {
		json_out_open(out, '{');
		field_count(out, "number", i);
		field_nonzero(out, "known", i);
		field_text(out, "name", "an element of some length");
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	return reply_end(reply);
}

static int begin_and_fail(const struct call *call, struct reply *reply)
{
	const struct world *world = call->userdata;

	field_open(reply_begin(reply), "begun", '[');
	return world->error;
}

static int change(const struct call *call, struct reply *reply)
{
	struct world *world = call->userdata;

	world->changes++;
	return reply_send(reply, json_object());
}

static int stream(const struct call *call, struct reply *reply)
{
	const struct channel_filter filter = { .kinds = 1 };
	struct world *world = call->userdata;
	int r;

	reply->continues = true;
	field_null(reply_begin(reply), "event");
	r = reply_end(reply);
	return r < 0 ? r : channel_subscribe(&world->channel, &filter, call->subscription);
}

static const struct query_method methods[] = {
	{ "List", list,
	  .takes = { { "after", JSON_INTEGER, true },
		     { "flag", JSON_TRUE, true },
		     { "some", JSON_INTEGER, true, 2, 4 } } },
	{ "Needs", list, .takes = { { "name", JSON_STRING } } },
	{ "Fail", begin_and_fail },
	{ "Change", change, QUERY_RIGHT_CHANGE },
	{ "Stream", stream, .streams = true },
	{ NULL },
};

static int dispatch(struct world *world, enum who who, const char *message, struct buffer *output)
{
	const struct query_peer peer = {
		.may_read = who >= READER,
		.sees_all = who == OWNER,
		.may_change = who == OWNER,
	};
	struct subscription subscription = { 0 };
	const struct call call = {
		.userdata = world,
		.peer = &peer,
		.subscription = &subscription,
	};
	int r = query_dispatch(methods, &call, message, strlen(message), output);

	channel_unsubscribe(&subscription);
	return r;
}

static void assert_reply(struct world *world, enum who who, const char *message,
			 const char *expected)
{
	struct buffer output = { .max = MAX_BYTES };

	assert_int_equal(dispatch(world, who, message, &output), 0);
	if (*expected) {
		/* One message, with its NUL, and nothing else. */
		assert_int_equal(output.length, strlen(buffer_bytes(&output)) + 1);
		assert_string_equal(buffer_bytes(&output), expected);
	} else {
		assert_int_equal(output.length, 0);
	}
	buffer_deinit(&output);
}

#define ERROR(name, key, value) \
	"{\"error\":\"" name "\",\"parameters\":{\"" key "\":\"" value "\"}}"
#define INVALID(parameter) ERROR("org.varlink.service.InvalidParameter", "parameter", parameter)
#define DENIED		   "{\"error\":\"org.varlink.service.PermissionDenied\",\"parameters\":{}}"

/* Ranges, and what a method needs. tests/varlink/test_hostile.py sends what is wrong otherwise. */
TEST(test_parameters)
{
	static const char list[] = "{\"parameters\":{\"list\":[]}}";
	static const struct {
		const char *message;
		const char *expected;
	} cases[] = {
		{ " {\"method\":\"io.wakegov.List\",\"more\":true}\n", list },
		{ "{\"method\":\"io.wakegov.List\",\"parameters\":{\"after\":null,\"flag\":false}}",
		  list },
		{ "{\"method\":\"io.wakegov.List\",\"parameters\":{\"some\":4}}", list },
		{ "{\"method\":\"io.wakegov.List\",\"parameters\":{\"some\":1}}", INVALID("some") },
		{ "{\"method\":\"io.wakegov.List\",\"parameters\":{\"some\":5}}", INVALID("some") },
		{ "{\"method\":\"io.wakegov.List\",\"parameters\":{\"flag\":1}}", INVALID("flag") },
		{ "{\"method\":\"io.wakegov.Needs\",\"parameters\":{\"name\":null}}",
		  INVALID("name") },
		{ "{\"oneway\":true}", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world world = { 0 };

		assert_reply(&world, OWNER, cases[i].message, cases[i].expected);
	}
}

TEST(test_changes_need_privilege)
{
	struct world world = { 0 };

	assert_reply(&world, READER, "{\"method\":\"io.wakegov.Change\"}", DENIED);
	assert_reply(&world, READER, "{\"method\":\"io.wakegov.Change\",\"oneway\":true}", "");
	assert_int_equal(world.changes, 0);
	assert_reply(&world, OWNER, "{\"method\":\"io.wakegov.Change\"}", "{\"parameters\":{}}");
	assert_reply(&world, OWNER, "{\"method\":\"io.wakegov.Change\",\"oneway\":true}", "");
	assert_int_equal(world.changes, 2);
}

TEST(test_strangers_may_only_introspect)
{
	struct world world = { 0 };

	assert_reply(&world, STRANGER, "{\"method\":\"io.wakegov.List\"}", DENIED);
	assert_reply(&world, STRANGER, "{\"method\":\"io.wakegov.List\",\"parameters\":{\"x\":1}}",
		     DENIED);
	assert_reply(&world, STRANGER, "{\"method\":\"io.wakegov.Stream\",\"more\":true}", DENIED);
	assert_reply(&world, STRANGER, "{\"method\":\"io.wakegov.Change\"}", DENIED);
	assert_reply(&world, STRANGER,
		     "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
		     "\"parameters\":{\"interface\":\"x\"}}",
		     ERROR("org.varlink.service.InterfaceNotFound", "interface", "x"));
}

TEST(test_streams)
{
	struct world world = { 0 };

	assert_reply(&world, READER, "{\"method\":\"io.wakegov.Stream\"}",
		     "{\"error\":\"org.varlink.service.ExpectedMore\",\"parameters\":{}}");
	assert_reply(&world, READER,
		     "{\"method\":\"io.wakegov.Stream\",\"more\":true,\"oneway\":true}", "");
	assert_reply(&world, READER, "{\"method\":\"io.wakegov.Stream\",\"more\":true}",
		     "{\"parameters\":{\"event\":null},\"continues\":true}");
}

/* What it had written by then is no reply. */
TEST(test_method_that_fails)
{
	struct world world = { .error = -ENODEV };

	assert_reply(&world, READER, "{\"method\":\"io.wakegov.Fail\"}",
		     ERROR("io.wakegov.Failed", "message", "No such device"));
}

/* A list that does not fit leaves what was in the output before it, and an error. */
TEST(test_reply_too_large)
{
	struct world world = { .n = 2000 };
	struct buffer output = { .max = MAX_BYTES };

	assert_int_equal(buffer_append(&output, "before", 7), 0);
	assert_int_equal(dispatch(&world, OWNER, "{\"method\":\"io.wakegov.List\"}", &output), 0);
	assert_string_equal(buffer_bytes(&output), "before");
	assert_string_equal(buffer_bytes(&output) + 7, "{\"error\":\"io.wakegov.ReplyTooLarge\","
						       "\"parameters\":{\"max_bytes\":65529}}");
	buffer_deinit(&output);
}

TEST(test_no_room_even_for_an_error)
{
	struct world world = { .n = 2000 };
	struct buffer output = { .max = 50 };

	assert_int_equal(dispatch(&world, OWNER, "{\"method\":\"io.wakegov.List\"}", &output),
			 -EMSGSIZE);
	buffer_deinit(&output);
}

/* What is not known is null, and 0 is a number. */
TEST(test_elements_and_their_commas)
{
	struct world world = { .n = 2 };

	assert_reply(&world, OWNER, "{\"method\":\"io.wakegov.List\"}",
		     "{\"parameters\":{\"list\":["
		     "{\"number\":0,\"known\":null,\"name\":\"an element of some length\"},"
		     "{\"number\":1,\"known\":1,\"name\":\"an element of some length\"}]}}");
}
