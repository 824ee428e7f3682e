// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/journal.h"

#include <errno.h>
#include <string.h>

#include "daemon/api/api.h"
#include "daemon/api/boost_news.h"
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
	json_int_t pid = call_number(call, "pid");
	struct channel_filter filter = { .pid = (uint32_t)pid };
	struct manager *manager = call->userdata;
	int r;

	if (read_kinds(json_object_get(call->parameters, "kinds"), &filter.kinds) < 0)
		return reply_send_invalid(reply, "kinds");
	if (pid < 0 || pid > INT32_MAX)
		return reply_send_invalid(reply, "pid");
	if (domain && topology_find(manager->topology, domain) == TOPOLOGY_NO_DOMAIN)
		return api_refuse_domain(reply, domain);
	if (domain)
		strncpy(filter.domain, domain, sizeof(filter.domain) - 1);
	/* The first reply, without an event, confirms the subscription. */
	reply->continues = true;
	field_null(reply_begin(reply), "event");
	r = reply_end(reply);
	return r < 0 ? r : channel_subscribe(&manager->monitor, &filter, call->subscription);
}

static void put_event(struct json_out *out, const struct manager *manager,
		      const struct event *event)
{
	json_out_key(out, "event");
	json_out_open(out, '{');
	field_count(out, "number", manager->monitor.next);
	field_count(out, "monotonic_us", event->now_ns / NS_PER_US);
	field_text(out, "kind", kind_names[event->kind]);
	field_text(out, "domain", event->domain);
	field_nonzero(out, "pid", event->pid);
	field_text(out, "comm", event->comm);
	field_text(out, "message", event->message);
	json_out_key(out, "decision");
	if (event->decision)
		api_put_decision(out, manager, event->decision);
	else
		field_null(out, NULL);
	field_text(out, "previous_state", event->previous_state);
	json_out_key(out, "task");
	if (event->task)
		api_put_task(out, manager, event->task);
	else
		field_null(out, NULL);
	json_out_close(out, '}');
}

void monitor_publish(struct manager *manager, const struct event *event)
{
	struct channel_tag tag = { .kind = event->kind, .pid = event->pid };
	struct buffer message = { .max = MESSAGE_BYTES_MAX };
	struct reply reply;

	if (!channel_has_subscriber(&manager->monitor))
		return;
	if (event->domain)
		strncpy(tag.domain, event->domain, sizeof(tag.domain) - 1);
	reply_init(&reply, &message, false);
	reply.continues = true;
	put_event(reply_begin(&reply), manager, event);
	if (reply_end(&reply) == 0)
		query_server_publish(manager->server, &manager->monitor, &tag, &message);
	buffer_deinit(&message);
}

void monitor_publish_decision(struct manager *manager, const struct decision_entry *entry)
{
	const struct decision *decision = &entry->decision;

	monitor_publish(manager,
			&(struct event){
				.kind = EVENT_DECISION,
				.now_ns = decision->now_ns,
				.domain = manager->topology->domains[decision->domain].name,
				.pid = decision->pid,
				.comm = decision->comm[0] ? decision->comm : NULL,
				.decision = entry,
			});
}

static void publish_boost(void *userdata, const struct io_task *task,
			  const enum io_boost_state *before)
{
	struct manager *manager = userdata;
	const struct topology *topology = manager->topology;

	monitor_publish(manager,
			&(struct event){
				.kind = EVENT_BOOST,
				.now_ns = time_now_ns(),
				.domain = api_domain_name(topology,
							  topology_domain_of(topology, task->cpu)),
				.pid = task->pid,
				.comm = task->comm,
				.task = task,
				.previous_state = before ? io_boost_state_name(*before) : NULL,
			});
}

/* A new listener gets changes from now on. */
void monitor_publish_boosts(struct manager *manager)
{
	const struct task_table *tasks = engine_tasks(manager->engine);
	uint32_t place;

	if (!channel_has_subscriber(&manager->monitor)) {
		manager->boost_news = boost_news_free(manager->boost_news);
		return;
	}
	if (!manager->boost_news)
		manager->boost_news = boost_news_new(tasks);
	while (manager->boost_news && (place = engine_take_changed(manager->engine)) != UINT32_MAX)
		boost_news_look(manager->boost_news, tasks, place, publish_boost, manager);
}
