// SPDX-License-Identifier: GPL-2.0-only
/* Parses a call, checks its caller's right and parameters, and runs its method. */
#include "varlink/call.h"

#include <errno.h>
#include <string.h>

#include "shared/cleanup.h"
#include "shared/version.h"

static bool read_flag(const json_t *message, const char *name, bool *ret)
{
	const json_t *value = json_object_get(message, name);

	if (value && !json_is_null(value) && !json_is_boolean(value))
		return false;

	*ret = json_is_true(value);
	return true;
}

/*
 * Returns NULL, or the field that is missing or of the wrong type, in which case call->oneway is
 * valid. Ignores fields unknown to the protocol.
 */
static const char *parse(struct call *call, const json_t *message)
{
	const json_t *parameters = json_object_get(message, "parameters");

	call->parameters = json_is_object(parameters) ? parameters : NULL;
	call->method = json_string_value(json_object_get(message, "method"));
	if (!read_flag(message, "oneway", &call->oneway))
		return "oneway";
	if (!read_flag(message, "more", &call->more))
		return "more";
	if (!read_flag(message, "upgrade", &call->upgrade))
		return "upgrade";
	if (parameters && !json_is_null(parameters) && !call->parameters)
		return "parameters";
	return call->method ? NULL : "method";
}

/*
 * Checks the call's parameters against the method's. Returns NULL, or the name of the first that is
 * unknown, missing, of the wrong type or out of its range.
 */
static const char *find_wrong(const struct call *call, const struct call_parameter *takes)
{
	const char *name;
	json_t *value;
	size_t i;

	json_object_foreach((json_t *)call->parameters, name, value) {
		for (i = 0; takes[i].name && strcmp(takes[i].name, name) != 0; i++)
			;
		if (!takes[i].name)
			return name;
	}

	for (; takes->name; takes++) {
		value = json_object_get(call->parameters, takes->name);
		if (takes->optional && (!value || json_is_null(value)))
			continue;
		if (!value || (takes->type == JSON_TRUE ? !json_is_boolean(value)
							: json_typeof(value) != takes->type))
			return takes->name;
		if (takes->most && (json_integer_value(value) < takes->least ||
				    json_integer_value(value) > takes->most))
			return takes->name;
	}
	return NULL;
}

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
} descriptions[] = {
	{ "io.wakegov", wakegov_description },
	{ "org.varlink.service", service_description },
};

static const struct description *find_description(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(descriptions); i++)
		if (strlen(descriptions[i].interface) == length &&
		    !memcmp(descriptions[i].interface, name, length))
			return &descriptions[i];
	return NULL;
}

/* org.varlink.service, by which every Varlink service describes itself. */
static int get_info(const struct call *call, struct reply *reply)
{
	return reply_send(reply, json_pack("{ss ss ss ss s[ss]}", "vendor", "wakegov", "product",
					   "wakegovd", "version", wakegov_version, "url",
					   "man:wakegovd(8)", "interfaces",
					   descriptions[0].interface, descriptions[1].interface));
}

static int get_interface_description(const struct call *call, struct reply *reply)
{
	const char *name = call_text(call, "interface");
	const struct description *found = find_description(name, strlen(name));

	if (!found)
		return reply_send_error(reply, "org.varlink.service.InterfaceNotFound",
					json_pack("{ss}", "interface", name));

	return reply_send(reply, json_pack("{ss}", "description", found->text));
}

static const struct query_method service_methods[] = {
	{ "GetInfo", get_info, .right = QUERY_RIGHT_NONE },
	{ "GetInterfaceDescription", get_interface_description, .right = QUERY_RIGHT_NONE,
	  .takes = { { "interface", JSON_STRING } } },
	{ NULL },
};

static int run_method(const struct query_method *method, const struct call *call,
		      struct reply *reply)
{
	const char *invalid = find_wrong(call, method->takes);
	int r;

	if ((method->right == QUERY_RIGHT_READ && !call->peer->may_read) ||
	    (method->right == QUERY_RIGHT_CHANGE && !call->peer->may_change))
		return reply_send_error(reply, "org.varlink.service.PermissionDenied",
					json_object());
	if (invalid)
		return reply_send_invalid(reply, invalid);
	/* The caller's number is another task's here, or no task's. */
	if (call_has_number(call, "pid") && !call->peer->shares_pids)
		return reply_send_error(reply, "io.wakegov.OtherPidNamespace", json_object());
	/* No method of ours switches to another protocol. */
	if (call->upgrade)
		return reply_send_invalid(reply, "upgrade");
	/* Streaming methods need `more` and a subscription; others answer once. */
	if (method->streams && !call->more)
		return reply_send_error(reply, "org.varlink.service.ExpectedMore", json_object());
	if (method->streams && call->oneway)
		return reply_send_invalid(reply, "oneway");

	r = method->run(call, reply);
	if (r < 0 || !reply->continues)
		channel_unsubscribe(call->subscription);
	if (r >= 0)
		return 0;
	reply_cancel(reply);
	if (r == -ENOMEM)
		return r;
	if (r == -EMSGSIZE)
		return reply_send_error(reply, "io.wakegov.ReplyTooLarge",
					json_pack("{sI}", "max_bytes",
						  (json_int_t)(reply->output->max - reply->mark)));
	return reply_send_error(reply, "io.wakegov.Failed",
				json_pack("{ss}", "message", strerror(-r)));
}

static int route(const struct query_method *methods, const struct call *call, struct reply *reply)
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

	method = interface == &descriptions[0] ? methods : service_methods;
	for (; method->name; method++)
		if (!strcmp(method->name, dot + 1))
			return run_method(method, call, reply);
	return reply_send_error(reply, "org.varlink.service.MethodNotFound",
				json_pack("{ss}", "method", call->method));
}

int query_dispatch(const struct query_method *methods, const struct call *from, const char *message,
		   size_t length, struct buffer *output)
{
	json_auto_t *parsed = json_loadb(message, length, JSON_REJECT_DUPLICATES, NULL);
	struct call call = *from;
	struct reply reply;
	const char *wrong;

	if (!json_is_object(parsed))
		return -EBADMSG;
	wrong = parse(&call, parsed);
	reply_init(&reply, output, call.oneway);
	if (wrong)
		return reply_send_invalid(&reply, wrong);
	return route(methods, &call, &reply);
}
