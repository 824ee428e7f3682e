/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* From the text of a call to the text of its reply. */

#include <stdbool.h>

#include "query/buffer.h"
#include "query/view.h"

/*
 * Appends the reply, if the call wants one, to output. privileged says whether the caller may
 * change the daemon's state. Returns 0; -EBADMSG if the message is no JSON object, -ENOMEM, or
 * -EMSGSIZE if not even an error fits: the client is to be dropped then.
 */
int query_dispatch(const struct query_source *source, bool privileged, const char *message,
		   size_t length, struct buffer *output);
