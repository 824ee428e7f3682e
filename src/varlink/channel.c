// SPDX-License-Identifier: GPL-2.0-only
/* One copy of each message for all subscribers, each with its own place in the ring. */
#include "varlink/channel.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct channel_message {
	struct channel_tag tag;
	uint32_t length;
	uint64_t start; /* in bytes since the first message; stored modulo CHANNEL_BYTES */
};

static void close_channel(struct channel *channel)
{
	free(channel->messages);
	free(channel->bytes);
	channel->messages = NULL;
	channel->bytes = NULL;
}

int channel_subscribe(struct channel *channel, const struct channel_filter *filter,
		      struct subscription *ret)
{
	/* The first subscriber makes the ring. */
	if (!channel->messages) {
		channel->messages = calloc(CHANNEL_MESSAGES, sizeof(*channel->messages));
		channel->bytes = malloc(CHANNEL_BYTES);
		if (!channel->messages || !channel->bytes) {
			close_channel(channel);
			return -ENOMEM;
		}
		channel->first = channel->next;
		channel->is_over = false;
	}
	channel->n_subscribers++;
	*ret = (struct subscription){
		.channel = channel,
		.filter = *filter,
		.next = channel->next,
	};
	return 0;
}

void channel_unsubscribe(struct subscription *subscription)
{
	struct channel *channel = subscription->channel;

	if (!channel)
		return;
	*subscription = (struct subscription){ 0 };
	if (--channel->n_subscribers)
		return;
	close_channel(channel);
	if (channel->unsubscribed)
		channel->unsubscribed(channel->userdata);
}

static struct channel_message *message_at(const struct channel *channel, uint64_t number)
{
	return &channel->messages[number % CHANNEL_MESSAGES];
}

int channel_publish(struct channel *channel, const struct channel_tag *tag, const void *message,
		    size_t length)
{
	uint64_t start = channel->end, offset = start % CHANNEL_BYTES;

	assert(channel->messages);
	if (length > CHANNEL_BYTES)
		return -EMSGSIZE;
	/* A message is stored in one piece; if it would wrap, the end of the ring stays unused. */
	if (offset + length > CHANNEL_BYTES)
		start += CHANNEL_BYTES - offset;
	/* Drops old messages whose bytes or whose entry are needed. */
	while (channel->first < channel->next &&
	       (channel->next - channel->first == CHANNEL_MESSAGES ||
		start + length - message_at(channel, channel->first)->start > CHANNEL_BYTES))
		channel->first++;
	memcpy(channel->bytes + start % CHANNEL_BYTES, message, length);
	channel->end = start + length;
	*message_at(channel, channel->next++) = (struct channel_message){
		.tag = *tag,
		.length = length,
		.start = start,
	};
	return 0;
}

static bool is_for(const struct channel_filter *filter, const struct channel_tag *tag)
{
	if (!(filter->kinds & 1u << tag->kind))
		return false;
	if (filter->pid && filter->pid != tag->pid)
		return false;
	return !filter->domain[0] || !strcmp(filter->domain, tag->domain);
}

bool channel_has_news(struct subscription *subscription)
{
	const struct channel *channel = subscription->channel;

	/* Skips messages that the filter excludes. */
	while (subscription->next >= channel->first && subscription->next < channel->next &&
	       !is_for(&subscription->filter, &message_at(channel, subscription->next)->tag))
		subscription->next++;
	return subscription->next < channel->next;
}

int channel_pull(struct subscription *subscription, struct buffer *output, size_t max_bytes)
{
	const struct channel *channel = subscription->channel;
	size_t pulled = 0;

	while (channel_has_news(subscription)) {
		const struct channel_message *message;
		int r;

		if (subscription->next < channel->first)
			return -ESTALE;
		message = message_at(channel, subscription->next);
		if (pulled && pulled + message->length > max_bytes)
			return 1;
		r = buffer_append(output, channel->bytes + message->start % CHANNEL_BYTES,
				  message->length);
		if (r < 0)
			return r;
		pulled += message->length;
		subscription->next++;
	}
	return 0;
}

uint64_t channel_lag(const struct subscription *subscription)
{
	return subscription->channel->next - subscription->next;
}
