// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/monitor.h"

#include <errno.h>
#include <string.h>

#include "varlink/view_json.h"

#define MESSAGE_BYTES_MAX (64 * 1024)

static int find_kind(const char *name)
{
	for (int kind = 0; kind < EVENT_KINDS; kind++)
		if (name && !strcmp(name, view_event_kind_name(kind)))
			return kind;
	return -EINVAL;
}

/* None given: all of them. */
static int read_kinds(const json_t *array, uint32_t *ret)
{
	uint32_t kinds = 0;
	const json_t *name;
	size_t i;

	json_array_foreach(array, i, name) {
		int kind = find_kind(json_string_value(name));

		if (kind < 0)
			return kind;
		kinds |= 1u << kind;
	}
	*ret = kinds ? kinds : (1u << EVENT_KINDS) - 1;
	return 0;
}

static int first_reply(struct reply *reply)
{
	struct json_out *out;

	reply->continues = true;
	out = reply_begin(reply);
	json_out_key(out, "event");
	json_out_null(out);
	return reply_end(reply);
}

int monitor_subscribe(const struct call *call, struct reply *reply)
{
	const char *domain = json_string_value(json_object_get(call->parameters, "domain"));
	json_int_t pid = json_integer_value(json_object_get(call->parameters, "pid"));
	struct channel_filter filter = { .pid = pid };
	int r;

	if (read_kinds(json_object_get(call->parameters, "kinds"), &filter.kinds) < 0)
		return reply_send_invalid(reply, "kinds");
	if (pid < 0 || pid > INT32_MAX)
		return reply_send_invalid(reply, "pid");
	if (domain && !call->source->knows_domain(call->source->userdata, domain))
		return reply_send_no_domain(reply, domain);
	if (domain)
		strncpy(filter.domain, domain, sizeof(filter.domain) - 1);
	r = first_reply(reply);
	return r < 0 ? r : channel_subscribe(call->monitor, &filter, call->subscription);
}

void monitor_publish(struct channel *monitor, const struct event_view *event)
{
	struct channel_tag tag = { .kind = event->kind, .pid = event->pid };
	struct buffer message = { .max = MESSAGE_BYTES_MAX };
	struct reply reply;

	if (event->domain)
		strncpy(tag.domain, event->domain, sizeof(tag.domain) - 1);
	reply_init(&reply, &message, false);
	reply.continues = true;
	json_out_key(reply_begin(&reply), "event");
	view_json_event(&reply.out, event, monitor->next);
	if (reply_end(&reply) == 0)
		channel_publish(monitor, &tag, buffer_bytes(&message), message.length);
	buffer_deinit(&message);
}
