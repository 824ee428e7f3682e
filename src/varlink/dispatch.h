/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* From the text of a call to the text of its reply. */

#include "varlink/buffer.h"
#include "varlink/call.h"
#include "varlink/channel.h"
#include "varlink/peer.h"

/* The caller and the methods. All borrowed. */
struct query_context {
	const struct query_method *methods; /* of io.wakegov */
	void *userdata;			    /* for them */
	const struct query_peer *peer;
	/* Not subscribed yet. If it is afterwards, the call streams, and takes the connection. */
	struct subscription *subscription;
};

/*
 * Appends the reply, if the call wants one, to output. Returns 0; -EBADMSG if the message is no
 * JSON object, -ENOMEM, or -EMSGSIZE if not even an error fits: then the client must be dropped.
 */
int query_dispatch(const struct query_context *context, const char *message, size_t length,
		   struct buffer *output);
