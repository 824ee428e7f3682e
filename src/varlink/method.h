/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A method of io.wakegov: a row of the table that the daemon gives the server, ended by one without
 * a name.
 */

#include "varlink/call.h"
#include "varlink/reply.h"

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
