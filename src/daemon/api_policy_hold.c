// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "daemon/api.h"
#include "daemon/policy_hold.h"
#include "shared/cleanup.h"

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
