// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "daemon/api.h"
#include "daemon/hand_back.h"
#include "daemon/hand_back_stream.h"
#include "daemon/round.h"
#include "shared/time.h"

void api_put_hand_back(struct json_out *out, const struct manager *manager)
{
	const struct hand_back *hand_back = &manager->hand_back;
	uint64_t now_ns = time_now_ns();

	if (!hand_back_is_on(manager)) {
		field_null(out, "hand_back");
		return;
	}
	field_open(out, "hand_back", '{');
	field_text(out, "governor", hand_back->governor[0] ? hand_back->governor : NULL);
	field_count(out, "left_us",
		    hand_back->until_ns > now_ns ? (hand_back->until_ns - now_ns) / NS_PER_US : 0);
	json_out_close(out, '}');
}

static int refuse(struct reply *reply, int error)
{
	if (error == -ENODEV)
		return reply_send_error(reply, "io.wakegov.NothingToHandBack", json_object());
	if (error == -EINVAL)
		return reply_send_invalid(reply, "governor");
	return error;
}

int api_hand_back(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct channel *channel = &manager->hand_back.channel;
	json_int_t for_us = call_number(call, "for_us");
	int r;

	if (for_us <= 0 || for_us > (json_int_t)HAND_BACK_MAX_US)
		return reply_send_invalid(reply, "for_us");
	if (hand_back_is_on(manager) || channel_is_heard(channel))
		return reply_send_error(reply, "io.wakegov.HandedBack", json_object());
	r = channel_subscribe(channel, &(struct channel_filter){ .kinds = 1 }, call->subscription);
	if (r < 0)
		return r;
	r = hand_back_start(manager, call_text(call, "governor"), (uint64_t)for_us);
	manager_round(manager);
	if (r < 0) {
		channel_unsubscribe(call->subscription);
		return refuse(reply, r);
	}
	reply->continues = true;
	r = hand_back_stream_put_reply(reply, NULL);
	if (r < 0)
		channel_unsubscribe(call->subscription);
	return r;
}
