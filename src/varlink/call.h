/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One Varlink call, parsed and checked; and the methods of io.wakegov that calls are for. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "varlink/channel.h"
#include "varlink/peer.h"
#include "varlink/reply.h"

struct call {
	json_t *message;	  /* owned; the rest points into it */
	const char *method;	  /* interface.Method */
	const json_t *parameters; /* an object, or NULL */
	bool more;
	bool oneway;
	bool upgrade;
	void *userdata; /* for the methods */
	const struct query_peer *peer;
	struct subscription *subscription; /* for a method that streams to fill in */
};

void call_deinit(struct call *call);

/*
 * Parses a call. Returns 0; -EBADMSG if the text is not one JSON object, which cannot be answered;
 * -EINVAL with the field that is missing or of the wrong type, in which case call->oneway is valid.
 * Ignores fields that the protocol does not know. Call call_deinit() in all cases.
 */
int call_parse(struct call *call, const char *text, size_t length, const char **ret_field);

/*
 * A parameter of a method. JSON_TRUE stands for either boolean; the method checks what an array
 * holds.
 */
struct call_parameter {
	const char *name;
	json_type type;
	bool optional;
};

/*
 * Checks the call's parameters against those that the method takes, which end with one without a
 * name. Returns NULL, or the name of the first that is unknown, missing or of the wrong type.
 */
const char *call_check_parameters(const struct call *call, const struct call_parameter *takes);

/* A checked parameter: NULL, 0 or false if it is not given. */
static inline const char *call_text(const struct call *call, const char *name)
{
	return json_string_value(json_object_get(call->parameters, name));
}

static inline bool call_has_number(const struct call *call, const char *name)
{
	return json_is_integer(json_object_get(call->parameters, name));
}

static inline json_int_t call_number(const struct call *call, const char *name)
{
	return json_integer_value(json_object_get(call->parameters, name));
}

static inline bool call_flag(const struct call *call, const char *name)
{
	return json_is_true(json_object_get(call->parameters, name));
}

/*
 * Runs a call with checked parameters. Returns 0 after it wrote a reply or an error, else a
 * negative errno that the dispatcher turns into an error.
 */
typedef int (*query_run_t)(const struct call *call, struct reply *reply);

#define QUERY_PARAMETERS_MAX 12

/* The right that the caller needs. */
enum query_right {
	QUERY_RIGHT_READ,
	QUERY_RIGHT_CHANGE,
	QUERY_RIGHT_NONE, /* none */
};

/* A row of the table that the daemon gives the server, ended by one without a name. */
struct query_method {
	const char *name;
	query_run_t run;
	enum query_right right;
	/*
	 * More than one reply: it needs more=true. The method writes the first reply, with
	 * reply->continues set, and makes a subscription for the others.
	 */
	bool streams;
	struct call_parameter takes[QUERY_PARAMETERS_MAX + 1]; /* ended by one without a name */
};
