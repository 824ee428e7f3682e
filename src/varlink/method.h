/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A method of io.wakegov, as the daemon gives them to the server: a table, ended by one without a
 * name.
 */

#include "varlink/call.h"
#include "varlink/reply.h"

/*
 * Runs a call whose parameters have been checked against the method's. Returns 0 after a reply or
 * an error was written, else a negative errno that the dispatcher turns into an error.
 */
typedef int (*query_run_t)(const struct call *call, struct reply *reply);

#define QUERY_PARAMETERS_MAX 12

/* What the caller has to be allowed to. */
enum query_right {
	QUERY_RIGHT_READ,
	QUERY_RIGHT_CHANGE,
	QUERY_RIGHT_NONE, /* everyone may */
};

struct query_method {
	const char *name;
	query_run_t run;
	enum query_right right;
	/*
	 * More than one reply: it is called with more=true only. The first reply, with
	 * reply->continues set, is the method's; the others follow from the subscription that it
	 * makes.
	 */
	bool streams;
	struct call_parameter takes[QUERY_PARAMETERS_MAX + 1]; /* ended by one without a name */
};
