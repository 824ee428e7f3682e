/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A Varlink interface as the server offers it: its text and the functions behind its methods. */

#include "varlink/call.h"
#include "varlink/reply.h"

/*
 * Runs a call whose parameters have been checked against the method's. Returns 0 after a reply or
 * an error was written, else a negative errno that the dispatcher turns into an error.
 */
typedef int (*query_method_t)(const struct call *call, struct reply *reply);

#define QUERY_PARAMETERS_MAX 12

/* What the caller has to be allowed to. */
enum query_right {
	QUERY_RIGHT_READ,
	QUERY_RIGHT_CHANGE,
	QUERY_RIGHT_NONE, /* everyone may */
};

struct query_method {
	const char *name;
	query_method_t run;
	enum query_right right;
	/*
	 * More than one reply: it is called with more=true only. The first reply, with
	 * reply->continues set, is the method's; the others follow from the subscription that it
	 * makes.
	 */
	bool streams;
	struct call_parameter takes[QUERY_PARAMETERS_MAX];
	size_t n_takes;
};

struct query_interface {
	const char *name;
	const char *description; /* in Varlink's interface definition language */
	const struct query_method *methods;
	size_t n_methods;
};

extern const struct query_interface query_interface_wakegov;
