// SPDX-License-Identifier: GPL-2.0-only
/* The table of the socket's methods, and those that need no file of their own. */
#include "daemon/api/api.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/domains.h"
#include "daemon/loop.h"
#include "daemon/modules/modules.h"
#include "daemon/modules/policy.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"

static void add_warning(void *array, const char *line)
{
	json_array_append_new(array, json_string(line));
}

static int reload(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	json_auto_t *warnings = json_array();
	_cleanup_free_ char *message = NULL;
	const json_t *warning;
	struct json_out *out;
	size_t i;
	int r;

	r = policy_reload(&manager->policies, add_warning, warnings, &message);
	if (r < 0)
		return api_refuse_policy(reply, r, message);

	out = reply_begin(reply);
	api_put_policy(out, &manager->policies);
	field_open(out, "warnings", '[');
	json_array_foreach(warnings, i, warning)
		field_text(out, NULL, json_string_value(warning));
	json_out_close(out, ']');
	return reply_end(reply);
}

static int adopt(const struct call *call, struct reply *reply)
{
	struct core *core = api_core(call);
	const char *domain = call_text(call, "domain");
	uint32_t adopted;
	int r = domains_adopt(core, domain, &adopted);

	round_run(core);
	if (r == -ENOENT)
		return api_refuse_domain(reply, domain);
	if (r < 0)
		return r;
	return reply_send(reply, json_pack("{sI}", "adopted", (json_int_t)adopted));
}

/* Subscribes a client whose end ends something: a round follows then. */
static int hold(const struct call *call, struct channel *channel)
{
	channel->unsubscribed = round_soon;
	channel->userdata = api_core(call);
	return channel_subscribe(channel, &(struct channel_filter){ .kinds = 1 },
				 call->subscription);
}

static int record(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct channel *channel = &manager->recording.channel;
	json_int_t max_bytes = call_number_or(call, "max_bytes", RECORDING_BYTES_DEFAULT);
	int r;

	if (max_bytes < (json_int_t)RECORDING_BYTES_LEAST)
		max_bytes = RECORDING_BYTES_LEAST;
	api_traced(call);
	if (channel_has_subscriber(channel))
		return reply_send_error(reply, "io.wakegov.RecordingBusy", json_object());
	r = hold(call, channel);
	return r < 0 ? r : recording_start(&manager->recording, (uint64_t)max_bytes, reply);
}

static int stop_recording(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;

	if (!channel_has_subscriber(&manager->recording.channel) ||
	    manager->recording.channel.is_over)
		return reply_send_error(reply, "io.wakegov.NoRecording", json_object());
	recording_stop(&manager->recording, "stopped");
	return reply_send(reply, json_object());
}

static int hand_back(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct core *core = &manager->core;
	struct channel *channel = &manager->hand_back.channel;
	json_int_t for_us = call_number(call, "for_us");
	int r;

	own_clock_end(&manager->own_clock);
	if (core->handed_back_until_ns || channel_has_subscriber(channel))
		return reply_send_error(reply, "io.wakegov.HandedBack", json_object());
	r = hold(call, channel);
	if (r < 0)
		return r;
	r = hand_back_start(&manager->hand_back, call_text(call, "governor"), (uint64_t)for_us);
	round_run(core);
	if (r == -ENODEV)
		return reply_send_error(reply, "io.wakegov.NothingToHandBack", json_object());
	if (r < 0)
		return r == -EINVAL ? reply_send_invalid(reply, "governor") : r;
	reply->continues = true;
	field_null(reply_begin(reply), "ended");
	return reply_end(reply);
}

static int list_profiles(const struct call *call, struct reply *reply)
{
	const struct manager *manager = call->userdata;
	const struct policy_profiles *profiles =
		policy_files_profiles(policies_in_force(&manager->policies));
	const struct profile_choice *choice = &manager->policies.profile;
	struct json_out *out = reply_begin(reply);

	field_text(out, "active", choice->name);
	field_text(out, "why", profile_why(&manager->policies));
	field_text(out, "chosen", choice->chosen[0] ? choice->chosen : NULL);
	field_open(out, "profiles", '[');
	for (uint32_t i = 0; i < profiles->n; i++) {
		const struct policy_when *when = &profiles->entries[i].when;

		json_out_open(out, '{');
		field_text(out, "name", profiles->entries[i].name);
		field_text(out, "when", when->given ? when->text : NULL);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	return reply_end(reply);
}

static int choose_profile(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	const char *profile = call_text(call, "profile");

	if (profile_choose(&manager->policies, profile) < 0)
		return reply_send_error(reply, "io.wakegov.NoSuchProfile",
					json_pack("{ss}", "profile", profile));
	return list_profiles(call, reply);
}

static int hold_policy(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct channel *channel = &manager->policies.hold;
	_cleanup_free_ char *message = NULL;
	int r;

	if (channel_has_subscriber(channel))
		return reply_send_error(reply, "io.wakegov.PolicyHeld", json_object());
	r = hold(call, channel);
	if (r < 0)
		return r;
	r = policy_hold_start(&manager->policies, call_text(call, "text"), &message);
	if (r < 0)
		return api_refuse_policy(reply, r, message);
	reply->continues = true;
	return reply_send(reply, json_object());
}

#define COUNT(_name) NUMBER(_name, 0, INT64_MAX)
#define PAGE	     NUMBER("offset", 0, UINT32_MAX), NUMBER("limit", 1, API_PAGE_MAX)
#define FOR	     NUMBER("for_us", 1, API_FOR_MAX_US)

/* clang-format off */
#define TEXT(_name) { _name, JSON_STRING, true }
#define FLAG(_name) { _name, JSON_TRUE, true }
#define NUMBER(_name, _least, _most) { _name, JSON_INTEGER, true, _least, _most }

const struct query_method api_methods[] = {
	{ "Status", api_show_status, .takes = { FLAG("untraced") } },
	{ "Domains", api_list_domains },
	{ "Tasks", api_list_tasks,
	  .takes = { NUMBER("pid", 0, INT32_MAX), NUMBER("limit", 1, INT64_MAX) } },
	{ "Devices", api_list_devices },
	{ "Rules", api_list_rules },
	{ "RuleTasks", api_list_rule_tasks, .takes = { { "rule", JSON_STRING }, PAGE } },
	{ "CappedTasks", api_list_capped_tasks, .takes = { PAGE } },
	{ "ExplainRules", api_explain_rules,
	  .takes = { { "pid", JSON_INTEGER, false, 1, INT32_MAX } } },
	{ "Decisions", api_list_decisions,
	  .takes = { COUNT("after_us"), COUNT("since_realtime_us"), COUNT("from") } },
	{ "Monitor", monitor_subscribe, .streams = true,
	  .takes = { { "kinds", JSON_ARRAY, true }, TEXT("domain"), NUMBER("pid", 0, INT32_MAX) } },
	{ "Record", record, QUERY_RIGHT_CHANGE, .streams = true,
	  .takes = { NUMBER("max_bytes", 1, INT64_MAX) } },
	{ "StopRecording", stop_recording, QUERY_RIGHT_CHANGE },
	{ "Explain", api_explain,
	  .takes = { TEXT("domain"), NUMBER("cpu", 0, UINT32_MAX), NUMBER("pid", 0, UINT32_MAX),
		     NUMBER("at_us", 0, UINT64_MAX / NS_PER_US), COUNT("at_realtime_us") } },
	{ "Stats", api_show_stats, .takes = { TEXT("domain") } },
	{ "Overrides", api_list_overrides },
	{ "AddOverride", api_add_override, QUERY_RIGHT_CHANGE,
	  .takes = { TEXT("domain"), NUMBER("pid", 1, INT32_MAX), TEXT("rule"), FLAG("children"),
		     { "settings", JSON_OBJECT }, FOR } },
	{ "CancelOverride", api_cancel_override, QUERY_RIGHT_CHANGE,
	  .takes = { { "id", JSON_INTEGER } } },
	{ "Classes", api_list_classes },
	{ "Hints", api_list_hints, .takes = { PAGE } },
	{ "GiveHint", api_give_hint,
	  .takes = { NUMBER("pid", 1, INT32_MAX), NUMBER("pidfd_id", 1, INT64_MAX),
		     { "class", JSON_STRING }, FLAG("children"), FOR } },
	{ "HoldHint", api_hold_hint, .streams = true,
	  .takes = { NUMBER("pid", 1, INT32_MAX), NUMBER("pidfd_id", 1, INT64_MAX),
		     { "class", JSON_STRING }, FLAG("children") } },
	{ "Adopt", adopt, QUERY_RIGHT_CHANGE, .takes = { TEXT("domain") } },
	{ "HandBack", hand_back, QUERY_RIGHT_CHANGE, .streams = true,
	  .takes = { TEXT("governor"), { "for_us", JSON_INTEGER, false, 1, HAND_BACK_MAX_US } } },
	{ "HoldPolicy", hold_policy, QUERY_RIGHT_CHANGE, .streams = true,
	  .takes = { { "text", JSON_STRING } } },
	{ "Profiles", list_profiles },
	{ "ChooseProfile", choose_profile, QUERY_RIGHT_CHANGE, .takes = { TEXT("profile") } },
	{ "Reload", reload, QUERY_RIGHT_CHANGE },
	{ NULL },
};
/* clang-format on */

int api_open(struct manager *manager)
{
	struct core *core = &manager->core;
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *path = NULL;
	int r;

	if (asprintf(&path, "%s/io.wakegov", core->options->run_dir) < 0)
		return log_oom();
	fd = query_listen(path);
	if (fd < 0) {
		log_error("cannot listen on %s: %s", path,
			  fd == -EADDRINUSE ? "another program answers there; stop it first"
					    : strerror(-fd));
		return take_fd(&fd);
	}
	manager->socket_path = take_ptr(path);
	r = query_server_new(core->event, fd, api_methods, manager, &core->policy.query,
			     &core->server);
	if (r < 0) {
		log_error("cannot serve the query socket: %s", strerror(-r));
		return r;
	}
	take_fd(&fd);
	return 0;
}
