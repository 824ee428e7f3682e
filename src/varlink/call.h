/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A Varlink call on its way to a method of io.wakegov, or of org.varlink.service in call.c: this
 * parses it, checks the caller's right and the parameters, and runs the method.
 */

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "core/settings.h"
#include "varlink/channel.h"
#include "varlink/reply.h"

/*
 * peer.c: the user at the other end of a connection, and the user's rights. The kernel recorded the
 * credentials at the time of the connect. Nothing is looked up in /proc, so the process need not
 * exist any more.
 *
 *	reading          everyone, or with readers = group the members of read-group
 *	seeing all       root, the daemon's own user, read-group and change-group: the command lines
 *	                 of other users' tasks
 *	changing         root, the daemon's own user, and change-group, which may also read
 */

struct query_peer {
	uid_t uid;
	pid_t pid;
	bool shares_pids; /* its numbers of tasks are the daemon's: shared/sysfs.h */
	bool is_owner;	  /* root or the daemon's own user */
	bool may_read;
	bool may_change;
	bool sees_all;
};

/* Finds the rights of the peer of a connected socket. Returns 0 or a negative errno. */
int query_peer_judge(struct query_peer *ret, int fd, const struct policy_query *policy);

struct call {
	const char *method;	  /* interface.Method; this and the next point into the message */
	const json_t *parameters; /* an object, or NULL */
	bool more;
	bool oneway;
	bool upgrade;
	void *userdata; /* for the methods */
	const struct query_peer *peer;
	struct subscription *subscription; /* filled in by a method that streams */
};

/*
 * A parameter of a method. JSON_TRUE stands for either boolean; the method checks what an array
 * holds.
 */
struct call_parameter {
	const char *name;
	json_type type;
	bool optional;
	json_int_t least, most; /* of an integer; most 0: any */
};

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

static inline json_int_t call_number_or(const struct call *call, const char *name,
					json_int_t otherwise)
{
	return call_has_number(call, name) ? call_number(call, name) : otherwise;
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

#define QUERY_PARAMETERS_MAX 6

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

/*
 * Answers a message by the methods of io.wakegov. from has userdata, the peer, and a subscription
 * that is not subscribed: if a method subscribes it, the call keeps the connection. Appends the
 * reply, if the call wants one, to output. Returns 0; -EBADMSG if the message is no JSON object,
 * -ENOMEM, or -EMSGSIZE if not even an error fits: then the client must be dropped.
 */
int query_dispatch(const struct query_method *methods, const struct call *from, const char *message,
		   size_t length, struct buffer *output);
