/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A stream of messages to every client that asked for it with "more".
 *
 * A message is kept once, in a ring, for all subscribers; each subscriber has a position in it. So
 * a subscriber that does not read costs the others nothing: it falls behind, until its unread
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
	uint32_t pid;		       /* 0: of no task */
	char domain[DOMAIN_NAME_SIZE]; /* empty: of no domain */
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
	uint64_t first; /* the numbers of the messages that are there: first … next − 1 */
	uint64_t next;
	uint64_t end; /* of the last one, counted in bytes since the first of all */
	uint32_t n_subscribers;
	bool is_over;			 /* a subscriber that has read everything is removed */
	void (*unheard)(void *userdata); /* called when the last subscriber has gone; may be NULL */
	void *userdata;
};

/* Embedded in the client; all zero is a valid one that is not subscribed. */
struct subscription {
	struct channel *channel; /* borrowed; NULL: none */
	struct channel_filter filter;
	uint64_t next;		  /* the number of the first message that it has not had */
	uint64_t behind_since_us; /* since when it has unread messages; 0: none */
};

/* Subscribes to what is published from now on. Returns 0 or -ENOMEM. */
int channel_subscribe(struct channel *channel, const struct channel_filter *filter,
		      struct subscription *ret);

/* Harmless on one that is not subscribed. */
void channel_unsubscribe(struct subscription *subscription);

static inline bool channel_is_heard(const struct channel *channel)
{
	return channel->n_subscribers;
}

/*
 * Keeps a whole message, which it copies, for every subscriber that it is for; the oldest are
 * overwritten. Not to be called while nobody subscribes. Returns 0 or -EMSGSIZE.
 */
int channel_publish(struct channel *channel, const struct channel_tag *tag, const void *message,
		    size_t length);

/*
 * Appends to output what the subscriber has not had, at most max_bytes and at least one message.
 * Returns 1 if there is more, 0 if that was all, -ESTALE if some of it was overwritten, or the
 * failure of output.
 */
int channel_pull(struct subscription *subscription, struct buffer *output, size_t max_bytes);

/* Whether there is something that it has not had. */
bool channel_has_news(struct subscription *subscription);

/* How many messages were published that it has not had, for whomever they are. */
uint64_t channel_lag(const struct subscription *subscription);
