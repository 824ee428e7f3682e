// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/methods_adopt.h"

#include <errno.h>

#include "varlink/view.h"

int methods_adopt(const struct call *call, struct reply *reply)
{
	const struct query_source *source = call->source;
	const char *domain = json_string_value(json_object_get(call->parameters, "domain"));
	uint32_t adopted;
	int r = source->adopt(source->userdata, domain, &adopted);

	if (r == -ENOENT)
		return reply_send_error(reply, "io.wakegov.NoSuchDomain",
					json_pack("{ss}", "domain", domain));
	if (r < 0)
		return r;
	return reply_send(reply, json_pack("{sI}", "adopted", (json_int_t)adopted));
}
