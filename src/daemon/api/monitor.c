// SPDX-License-Identifier: GPL-2.0-only
/* The stream of decisions and boosts to the clients of Monitor. */
#include "daemon/modules/modules.h"

#include <errno.h>
#include <string.h>

#include "daemon/api/api.h"
#include "daemon/journal.h"
#include "shared/time.h"

#define MESSAGE_BYTES_MAX (64 * 1024)

static const char *const kind_names[EVENT_KINDS] = {
	[EVENT_DECISION] = "decision", [EVENT_BOOST] = "boost",	  [EVENT_YIELD] = "yield",
	[EVENT_ERROR] = "error",       [EVENT_CHANGE] = "change",
};

/* Reads the kinds as bits; none given: all. Returns -EINVAL for an unknown kind. */
static int read_kinds(const json_t *array, uint32_t *ret)
{
	uint32_t kinds = 0;
	const json_t *name;
	size_t i;

	json_array_foreach(array, i, name) {
		int kind = 0;

		if (!json_is_string(name))
			return -EINVAL;
		while (kind < EVENT_KINDS && strcmp(json_string_value(name), kind_names[kind]) != 0)
			kind++;
		if (kind == EVENT_KINDS)
			return -EINVAL;
		kinds |= 1u << kind;
	}
	*ret = kinds ? kinds : (1u << EVENT_KINDS) - 1;
	return 0;
}

int monitor_subscribe(const struct call *call, struct reply *reply)
{
	const char *domain = call_text(call, "domain");
	struct channel_filter filter = { .pid = (uint32_t)call_number(call, "pid") };
	struct monitor *monitor = &((struct manager *)call->userdata)->monitor;
	int r;

	api_traced(call);
	if (read_kinds(json_object_get(call->parameters, "kinds"), &filter.kinds) < 0)
		return reply_send_invalid(reply, "kinds");
	if (domain && topology_find(monitor->core->topology, domain) == TOPOLOGY_NO_DOMAIN)
		return api_refuse_domain(reply, domain);
	if (domain)
		strncpy(filter.domain, domain, sizeof(filter.domain) - 1);
	monitor->channel.unsubscribed = round_soon;
	monitor->channel.userdata = monitor->core;
	/* The first reply, without an event, confirms the subscription. */
	reply->continues = true;
	field_null(reply_begin(reply), "event");
	r = reply_end(reply);
	return r < 0 ? r : channel_subscribe(&monitor->channel, &filter, call->subscription);
}

static void put_event(struct json_out *out, const struct monitor *monitor,
		      const struct event *event)
{
	json_out_key(out, "event");
	json_out_open(out, '{');
	field_count(out, "number", monitor->channel.next);
	field_count(out, "monotonic_us", event->now_ns / NS_PER_US);
	field_text(out, "kind", kind_names[event->kind]);
	field_text(out, "domain", event->domain);
	field_nonzero(out, "pid", event->pid);
	field_text(out, "comm", event->comm);
	field_text(out, "message", event->message);
	change_put(out, "decision", monitor->core, event->change, false);
	field_text(out, "previous_state", event->previous_state);
	json_out_key(out, "task");
	if (event->task)
		api_put_task(out, monitor->core, event->task);
	else
		field_null(out, NULL);
	json_out_close(out, '}');
}

static void report(void *state, const struct event *event)
{
	struct monitor *monitor = state;
	struct channel_tag tag = { .kind = event->kind, .pid = event->pid };
	struct buffer message = { .max = MESSAGE_BYTES_MAX };
	struct reply reply;

	if (!channel_has_subscriber(&monitor->channel))
		return;
	if (event->domain)
		strncpy(tag.domain, event->domain, sizeof(tag.domain) - 1);
	reply_init(&reply, &message, false);
	reply.continues = true;
	put_event(reply_begin(&reply), monitor, event);
	if (reply_end(&reply) == 0)
		query_server_publish(monitor->core->server, &monitor->channel, &tag, &message);
	buffer_deinit(&message);
}

static void target_changed(void *state, const struct change *change)
{
	const struct decision *decision = &change->decision;
	const struct monitor *monitor = state;

	report(state, &(struct event){
			      .kind = EVENT_DECISION,
			      .now_ns = decision->now_ns,
			      .domain = monitor->core->topology->domains[decision->domain].name,
			      .pid = decision->pid,
			      .comm = decision->comm[0] ? decision->comm : NULL,
			      .change = change,
		      });
}

static void publish_boost(struct monitor *monitor, const struct io_task *task, int before)
{
	const struct topology *topology = monitor->core->topology;

	report(monitor,
	       &(struct event){
		       .kind = EVENT_BOOST,
		       .now_ns = time_now_ns(),
		       .domain = api_domain_name(topology, topology_domain_of(topology, task->cpu)),
		       .pid = task->pid,
		       .comm = task->comm,
		       .task = task,
		       .previous_state = before < 0 ? NULL : io_boost_state_names[before],
	       });
}

/* A new listener gets changes from now on. A task whose boost has ended is reported as well. */
static void run(void *state, uint64_t now_ns)
{
	struct monitor *monitor = state;
	struct engine *engine = monitor->core->engine;
	bool had_listener = monitor->has_listener;
	const struct io_task *task;
	uint32_t place;
	int before;

	monitor->has_listener = channel_has_subscriber(&monitor->channel);
	while (monitor->has_listener &&
	       (place = engine_pop_changed(engine, &before)) != UINT32_MAX) {
		task = io_task_at(engine_tasks(engine), place);
		if (had_listener && task && task->io_boost.state != before)
			publish_boost(monitor, task, before);
	}
}

static bool needs_tracer(const void *state)
{
	return channel_has_subscriber(&((const struct monitor *)state)->channel);
}

const struct module monitor_module = {
	.name = "monitor",
	.target_changed = target_changed,
	.run = run,
	.report = report,
	.needs_tracer = needs_tracer,
};
