/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A stream of messages to every client that requested it with "more".
 *
 * A ring keeps each message once for all subscribers; each subscriber has a position in it. So a
 * subscriber that does not read costs the others nothing: it falls behind, until its unread
 * messages are overwritten. Without subscribers there is no ring, and publishing is not needed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/topology.h"
#include "varlink/buffer.h"

#define CHANNEL_BYTES	 (4u * 1024 * 1024)
#define CHANNEL_MESSAGES 16384u

/* The properties by which subscribers filter. */
struct channel_tag {
	uint32_t kind;		       /* below 32 */
	uint32_t pid;		       /* 0: about no task */
	char domain[DOMAIN_NAME_SIZE]; /* empty: about no domain */
};

struct channel_filter {
	uint32_t kinds;		       /* bits 1 << kind */
	uint32_t pid;		       /* 0: any or none */
	char domain[DOMAIN_NAME_SIZE]; /* empty: any or none */
};

struct channel_message;

/* Embedded in its owner; all zero is a valid one without subscribers. */
struct channel {
	struct channel_message *messages;
	char *bytes;
	uint64_t first; /* the stored messages are first … next − 1 */
	uint64_t next;
	uint64_t end; /* end of the last message, in bytes since the first of all */
	uint32_t n_subscribers;
	bool is_over; /* a subscriber is removed once it has read everything */
	void (*unsubscribed)(
		void *userdata); /* called when the last subscriber has gone; may be NULL */
	void *userdata;
};

/* Embedded in the client; all zero is a valid one that is not subscribed. */
struct subscription {
	struct channel *channel; /* borrowed; NULL: none */
	struct channel_filter filter;
	uint64_t next;		  /* number of its first unread message */
	uint64_t behind_since_us; /* start of its having unread messages; 0: none */
};

/* Subscribes to messages published from now on. Returns 0 or -ENOMEM. */
int channel_subscribe(struct channel *channel, const struct channel_filter *filter,
		      struct subscription *ret);

/* Does nothing without a subscription. */
void channel_unsubscribe(struct subscription *subscription);

static inline bool channel_has_subscriber(const struct channel *channel)
{
	return channel->n_subscribers;
}

/*
 * Copies a message and keeps it for every subscriber whose filter it passes; overwrites the oldest.
 * Needs a subscriber. Returns 0 or -EMSGSIZE.
 */
int channel_publish(struct channel *channel, const struct channel_tag *tag, const void *message,
		    size_t length);

/*
 * Appends the subscriber's unread messages to output, at most max_bytes and at least one message.
 * Returns 1 if there are more, 0 if not, -ESTALE if some were overwritten, or the error of output.
 */
int channel_pull(struct subscription *subscription, struct buffer *output, size_t max_bytes);

/* Whether it has unread messages. */
bool channel_has_news(struct subscription *subscription);

/* The number of messages since its position, including those that its filter excludes. */
uint64_t channel_lag(const struct subscription *subscription);
