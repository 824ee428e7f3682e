// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/hand_back_stream.h"

#include "daemon/state.h"
#include "varlink/reply.h"

#define MESSAGE_BYTES_MAX 1024

int hand_back_stream_put_reply(struct reply *reply, const char *ended)
{
	field_text(reply_begin(reply), "ended", ended);
	return reply_end(reply);
}

void hand_back_stream_end(struct manager *manager)
{
	struct channel *channel = &manager->hand_back.channel;
	struct buffer message = { .max = MESSAGE_BYTES_MAX };
	struct channel_tag tag = { 0 };
	struct reply reply;

	if (!channel_is_heard(channel))
		return;
	reply_init(&reply, &message, false);
	if (hand_back_stream_put_reply(&reply, "time") == 0)
		query_server_publish(manager->server, channel, &tag, &message);
	channel->is_over = true;
	buffer_deinit(&message);
}
