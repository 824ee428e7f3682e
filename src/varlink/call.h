/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One Varlink call as it came in, checked and taken apart. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "varlink/channel.h"
#include "varlink/peer.h"
#include "varlink/view.h"

struct call {
	json_t *message;	  /* owned; the rest points into it */
	const char *method;	  /* interface.Method */
	const json_t *parameters; /* an object, or NULL */
	bool more;
	bool oneway;
	bool upgrade;
	const struct query_source *source;
	const struct query_peer *peer;
	struct channel *monitor;
	struct channel *recording;
	struct subscription *subscription; /* for a method that streams to fill in */
};

void call_deinit(struct call *call);

/*
 * Returns 0; -EBADMSG if the text is not one JSON object (there is nothing to answer to); -EINVAL
 * with the field that is missing or of the wrong type, in which case call->oneway is valid. Fields
 * that the protocol doesn't know are ignored. In all cases call_deinit() is right afterwards.
 */
int call_parse(struct call *call, const char *text, size_t length, const char **ret_field);

/* What a method takes. JSON_TRUE stands for either boolean; of an array, what is in it is the
 * method's to check.
 */
struct call_parameter {
	const char *name;
	json_type type;
	bool optional;
};

/*
 * Checks the call's parameters against the n that the method takes. Returns NULL, or the name of
 * the first that is unknown, missing or of the wrong type.
 */
const char *call_check_parameters(const struct call *call, const struct call_parameter *takes,
				  size_t n);
