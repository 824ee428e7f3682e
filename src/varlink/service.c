// SPDX-License-Identifier: GPL-2.0-only
/* org.varlink.service: what every Varlink service says about itself. */
#include "shared/cleanup.h"
#include "varlink/interface.h"

static int get_info(const struct call *call, struct reply *reply)
{
	json_t *names = json_array();

	for (size_t i = 0; query_interfaces[i]; i++)
		json_array_append_new(names, json_string(query_interfaces[i]->name));

	return reply_send(reply, json_pack("{ss ss ss ss so}", "vendor", "wakegov", "product",
					   "wakegovd", "version", WAKEGOV_VERSION, "url",
					   "man:wakegovd(8)", "interfaces", names));
}

static int get_interface_description(const struct call *call, struct reply *reply)
{
	const json_t *name = json_object_get(call->parameters, "interface");
	const struct query_interface *interface = query_interface_find(json_string_value(name),
								       json_string_length(name));

	if (!interface)
		return reply_send_error(reply, "org.varlink.service.InterfaceNotFound",
					json_pack("{ss}", "interface", json_string_value(name)));

	return reply_send(reply, json_pack("{ss}", "description", interface->description));
}

static const struct query_method methods[] = {
	{ .name = "GetInfo", .run = get_info, .right = QUERY_RIGHT_NONE },
	{
		.name = "GetInterfaceDescription",
		.run = get_interface_description,
		.right = QUERY_RIGHT_NONE,
		.takes = { { .name = "interface", .type = JSON_STRING } },
		.n_takes = 1,
	},
};

static const char description[] =
#include "org.varlink.service.varlink.inc"
	;

const struct query_interface query_interface_service = {
	.name = "org.varlink.service",
	.description = description,
	.methods = methods,
	.n_methods = ARRAY_SIZE(methods),
};
