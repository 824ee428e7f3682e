// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/dispatch.h"

#include <errno.h>
#include <string.h>

#include "shared/cleanup.h"

#define DESCRIPTIONS 2

static const char wakegov_description[] =
#include "io.wakegov.varlink.inc"
	;

static const char service_description[] =
#include "org.varlink.service.varlink.inc"
	;

/* In the order of GetInfo; each text is in Varlink's definition language. */
static const struct description {
	const char *interface;
	const char *text;
} descriptions[DESCRIPTIONS] = {
	{ "io.wakegov", wakegov_description },
	{ "org.varlink.service", service_description },
};

static const struct description *find_description(const char *name, size_t length)
{
	for (size_t i = 0; i < DESCRIPTIONS; i++)
		if (strlen(descriptions[i].interface) == length &&
		    !memcmp(descriptions[i].interface, name, length))
			return &descriptions[i];
	return NULL;
}

/* org.varlink.service: every Varlink service describes itself by it. */
static int get_info(const struct call *call, struct reply *reply)
{
	return reply_send(reply, json_pack("{ss ss ss ss s[ss]}", "vendor", "wakegov", "product",
					   "wakegovd", "version", WAKEGOV_VERSION, "url",
					   "man:wakegovd(8)", "interfaces",
					   descriptions[0].interface, descriptions[1].interface));
}

static int get_interface_description(const struct call *call, struct reply *reply)
{
	const json_t *name = json_object_get(call->parameters, "interface");
	const struct description *found = find_description(json_string_value(name),
							   json_string_length(name));

	if (!found)
		return reply_send_error(reply, "org.varlink.service.InterfaceNotFound",
					json_pack("{ss}", "interface", json_string_value(name)));

	return reply_send(reply, json_pack("{ss}", "description", found->text));
}

static const struct query_method service_methods[] = {
	{ "GetInfo", get_info, .right = QUERY_RIGHT_NONE },
	{ "GetInterfaceDescription", get_interface_description, .right = QUERY_RIGHT_NONE,
	  .takes = { { "interface", JSON_STRING } } },
	{ NULL },
};

/* An error for the client, for a method that failed. */
static int send_failure(struct reply *reply, int error)
{
	reply_cancel(reply);
	if (error == -ENOMEM)
		return error;
	if (error == -EMSGSIZE)
		return reply_send_error(reply, "io.wakegov.ReplyTooLarge",
					json_pack("{sI}", "max_bytes",
						  (json_int_t)(reply->output->max - reply->mark)));
	return reply_send_error(reply, "io.wakegov.Failed",
				json_pack("{ss}", "message", strerror(-error)));
}

static bool is_allowed(const struct query_method *method, const struct query_peer *peer)
{
	switch (method->right) {
	case QUERY_RIGHT_READ:
		return peer->may_read;
	case QUERY_RIGHT_CHANGE:
		return peer->may_change;
	case QUERY_RIGHT_NONE:
		break;
	}
	return true;
}

static int run_method(const struct query_method *method, const struct call *call,
		      struct reply *reply)
{
	const char *invalid = call_check_parameters(call, method->takes);
	int r;

	if (!is_allowed(method, call->peer))
		return reply_send_error(reply, "org.varlink.service.PermissionDenied",
					json_object());
	if (invalid)
		return reply_send_invalid(reply, invalid);
	/* No method of ours switches to another protocol. */
	if (call->upgrade)
		return reply_send_invalid(reply, "upgrade");
	/* Streaming methods need `more` and a subscription; others answer once. */
	if (method->streams && !call->more)
		return reply_send_error(reply, "org.varlink.service.ExpectedMore", json_object());
	if (method->streams && call->oneway)
		return reply_send_invalid(reply, "oneway");

	r = method->run(call, reply);
	return r < 0 ? send_failure(reply, r) : 0;
}

static int route(const struct query_context *context, const struct call *call, struct reply *reply)
{
	const char *dot = strrchr(call->method, '.');
	const struct description *interface;
	const struct query_method *method;

	if (!dot)
		return reply_send_invalid(reply, "method");

	interface = find_description(call->method, (size_t)(dot - call->method));
	if (!interface)
		return reply_send_error(reply, "org.varlink.service.InterfaceNotFound",
					json_pack("{ss%}", "interface", call->method,
						  (size_t)(dot - call->method)));

	method = interface == &descriptions[0] ? context->methods : service_methods;
	for (; method->name; method++)
		if (!strcmp(method->name, dot + 1))
			return run_method(method, call, reply);
	return reply_send_error(reply, "org.varlink.service.MethodNotFound",
				json_pack("{ss}", "method", call->method));
}

int query_dispatch(const struct query_context *context, const char *message, size_t length,
		   struct buffer *output)
{
	_cleanup_(call_deinit) struct call call = { 0 };
	const char *field = NULL;
	struct reply reply;
	int r;

	r = call_parse(&call, message, length, &field);
	if (r == -EBADMSG)
		return r;

	reply_init(&reply, output, call.oneway);
	if (r < 0)
		return reply_send_invalid(&reply, field);

	call.userdata = context->userdata;
	call.peer = context->peer;
	call.subscription = context->subscription;
	return route(context, &call, &reply);
}
