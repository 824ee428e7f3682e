// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/call.h"

#include <errno.h>
#include <string.h>

void call_deinit(struct call *call)
{
	json_decref(call->message);
	*call = (struct call){ 0 };
}

static bool read_flag(const json_t *message, const char *name, bool *ret)
{
	const json_t *value = json_object_get(message, name);

	if (value && !json_is_null(value) && !json_is_boolean(value))
		return false;

	*ret = json_is_true(value);
	return true;
}

static bool read_parameters(const json_t *message, const json_t **ret)
{
	const json_t *value = json_object_get(message, "parameters");

	if (json_is_null(value))
		value = NULL;
	*ret = value;
	return !value || json_is_object(value);
}

int call_parse(struct call *call, const char *text, size_t length, const char **ret_field)
{
	*call = (struct call){ 0 };
	call->message = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(call->message))
		return -EBADMSG;

	if (!read_flag(call->message, "oneway", &call->oneway))
		*ret_field = "oneway";
	else if (!read_flag(call->message, "more", &call->more))
		*ret_field = "more";
	else if (!read_flag(call->message, "upgrade", &call->upgrade))
		*ret_field = "upgrade";
	else if (!read_parameters(call->message, &call->parameters))
		*ret_field = "parameters";
	else if (!(call->method = json_string_value(json_object_get(call->message, "method"))))
		*ret_field = "method";
	else
		return 0;

	return -EINVAL;
}

static bool takes_it(const struct call_parameter *takes, const char *name)
{
	for (; takes->name; takes++)
		if (!strcmp(takes->name, name))
			return true;
	return false;
}

const char *call_check_parameters(const struct call *call, const struct call_parameter *takes)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)call->parameters, name, value)
		if (!takes_it(takes, name))
			return name;

	for (; takes->name; takes++) {
		value = json_object_get(call->parameters, takes->name);
		if (takes->optional && (!value || json_is_null(value)))
			continue;
		if (!value || (takes->type == JSON_TRUE ? !json_is_boolean(value)
							: json_typeof(value) != takes->type))
			return takes->name;
	}
	return NULL;
}
