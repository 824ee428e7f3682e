// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives all driven domains to another governor until a time or until the client goes. The values
 * from before wakegov are restored first, so that a kill at any moment leaves nothing of ours.
 */
#include "daemon/modules/hand_back.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "actuator/governor.h"
#include "daemon/domains.h"
#include "daemon/loop.h"
#include "shared/log.h"
#include "shared/time.h"
#include "varlink/reply.h"

#define MESSAGE_BYTES_MAX 1024

static int check_governor(const struct core *core, const char *governor)
{
	uint32_t n_driven = 0;

	for (uint32_t i = 0; i < core->n_domains; i++) {
		const struct governed *governed = &core->domains[i];

		if (!governed_is_driven(governed))
			continue;
		n_driven++;
		if (governor && control_lists(governed->actuator.info->first_cpu,
					      "scaling_available_governors", governor) <= 0)
			return -EINVAL;
	}
	return n_driven ? 0 : -ENODEV;
}

/* The round that follows resumes the tracer: watching.c. */
static void end(struct hand_back *hand_back)
{
	hand_back->governor[0] = '\0';
	domains_end_hand_back(hand_back->core);
}

static int on_end(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct hand_back *hand_back = userdata;
	struct channel *channel = &hand_back->channel;
	struct buffer message = { .max = MESSAGE_BYTES_MAX };
	struct channel_tag tag = { 0 };
	struct reply reply;

	if (!core_is_lent(hand_back->core))
		return 0;
	end(hand_back);
	log_info("governing again, after the domains were handed back");
	/* The second and last reply of io.wakegov.HandBack, if the client is still there. */
	if (channel_has_subscriber(channel)) {
		reply_init(&reply, &message, false);
		field_text(reply_begin(&reply), "ended", "time");
		if (reply_end(&reply) == 0)
			query_server_publish(hand_back->core->server, channel, &tag, &message);
		channel->is_over = true;
		buffer_deinit(&message);
	}
	round_run(hand_back->core);
	return 0;
}

/* The client has gone. Deferred, as the sender still uses the channel. */
static void on_unsubscribed(void *userdata)
{
	struct hand_back *hand_back = userdata;

	if (!core_is_lent(hand_back->core))
		return;
	sd_event_source_set_time(hand_back->timer, 0);
	sd_event_source_set_enabled(hand_back->timer, SD_EVENT_ONESHOT);
}

static int set_end(struct hand_back *hand_back, uint64_t for_us)
{
	uint64_t until_us = time_now_ns() / NS_PER_US + for_us;
	int r = 0;

	if (!hand_back->timer)
		r = sd_event_add_time(hand_back->core->event, &hand_back->timer, CLOCK_MONOTONIC,
				      until_us, 1000, on_end, hand_back);
	if (r >= 0)
		r = sd_event_source_set_time(hand_back->timer, until_us);
	if (r >= 0)
		r = sd_event_source_set_enabled(hand_back->timer, SD_EVENT_ONESHOT);
	if (r < 0)
		return r;
	hand_back->channel.unsubscribed = on_unsubscribed;
	hand_back->channel.userdata = hand_back;
	hand_back->core->handed_back_until_ns = until_us * NS_PER_US;
	return 0;
}

int hand_back_start(struct hand_back *hand_back, const char *governor, uint64_t for_us)
{
	struct core *core = hand_back->core;
	int r = check_governor(core, governor);

	if (r >= 0)
		r = set_end(hand_back, for_us);
	if (r < 0)
		return r;
	snprintf(hand_back->governor, sizeof(hand_back->governor), "%s", governor ?: "");
	r = domains_hand_back(core, governor);
	if (r < 0) {
		end(hand_back);
		return r;
	}
	tracer_pause(core->tracer);
	log_info("the domains are handed back to %s for %llu s at most",
		 governor ?: "the governors before wakegov",
		 (unsigned long long)(for_us / US_PER_S));
	return 0;
}

/* Restores the state before it, and takes no domain again. */
static void stop(void *state)
{
	struct core *core = ((struct hand_back *)state)->core;

	core->handed_back_until_ns = 0;
	for (uint32_t i = 0; i < core->n_domains; i++)
		if (core->domains[i].actuator.state == ACTUATOR_STATE_HANDED_BACK)
			actuator_end_hand_back(&core->domains[i].actuator);
}

static void free_timer(void *state)
{
	sd_event_source_unref(((struct hand_back *)state)->timer);
}

const struct module hand_back_module = {
	.name = "hand-back",
	.stop = stop,
	.free = free_timer,
};
