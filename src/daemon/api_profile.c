// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "daemon/api.h"
#include "daemon/policy_hold.h"
#include "daemon/profile.h"
#include "daemon/profile_switch.h"
#include "shared/cleanup.h"

static int put_profiles(struct reply *reply, const struct manager *manager)
{
	const struct policy_profiles *profiles = policy_files_profiles(manager->policy_files);
	const struct profile_choice *choice = &manager->profile;
	struct json_out *out = reply_begin(reply);

	field_text(out, "active", choice->name);
	field_text(out, "why", profile_why(manager));
	field_text(out, "chosen", choice->chosen[0] ? choice->chosen : NULL);
	field_open(out, "profiles", '[');
	for (uint32_t i = 0; i < profiles->n; i++) {
		json_out_open(out, '{');
		field_text(out, "name", profiles->entries[i].name);
		field_text(out, "when", profiles->entries[i].when.text);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	return reply_end(reply);
}

static int refuse(struct reply *reply, int error, const char *profile)
{
	if (error == -ENOENT)
		return reply_send_error(reply, "io.wakegov.NoSuchProfile",
					json_pack("{ss}", "profile", profile));
	return error;
}

int api_list_profiles(const struct call *call, struct reply *reply)
{
	return put_profiles(reply, call->userdata);
}

int api_choose_profile(const struct call *call, struct reply *reply)
{
	const char *profile = call_text(call, "profile");
	int r = profile_switch_choose(call->userdata, profile);

	return r < 0 ? refuse(reply, r, profile) : put_profiles(reply, call->userdata);
}

/* One client at a time; the hold ends with its connection. */
int api_hold_profile(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct channel *hold = &manager->profile.hold;
	const char *profile = call_text(call, "profile");
	int r;

	if (channel_is_heard(hold))
		return reply_send_error(reply, "io.wakegov.ProfileHeld", json_object());
	r = channel_subscribe(hold, &(struct channel_filter){ .kinds = 1 }, call->subscription);
	if (r < 0)
		return r;
	r = profile_switch_hold(manager, profile);
	reply->continues = r >= 0;
	if (r >= 0)
		r = put_profiles(reply, manager);
	if (r >= 0)
		return r;
	channel_unsubscribe(call->subscription);
	return refuse(reply, r, profile);
}

int api_hold_policy(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct channel *channel = &manager->policy_hold.channel;
	_cleanup_free_ char *message = NULL;
	int r;

	if (channel_is_heard(channel))
		return reply_send_error(reply, "io.wakegov.PolicyHeld", json_object());
	r = channel_subscribe(channel, &(struct channel_filter){ .kinds = 1 }, call->subscription);
	if (r < 0)
		return r;
	r = policy_hold_start(manager, call_text(call, "text"), &message);
	if (r < 0) {
		channel_unsubscribe(call->subscription);
		return api_refuse_policy(reply, r, message);
	}
	reply->continues = true;
	return reply_send(reply, json_object());
}
