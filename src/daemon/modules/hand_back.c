// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaves the machine as it would be without wakegov for a while: all driven domains get another
 * governor (actuator/governor.h), tasks have no clamps, no program of the tracer runs, and the core
 * stands still, keeping what it knows of tasks. Ends after its time, or when the client that asked
 * for it has gone. The values from before wakegov are restored first, so that a kill at any moment
 * leaves nothing of ours.
 */
#include "daemon/modules/modules.h"

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

/* The second and last reply of io.wakegov.HandBack, if the client is still there. */
static void tell_client(struct hand_back *hand_back)
{
	struct channel *channel = &hand_back->channel;
	struct buffer message = { .max = MESSAGE_BYTES_MAX };
	struct channel_tag tag = { 0 };
	struct reply reply;

	if (!channel_has_subscriber(channel))
		return;
	reply_init(&reply, &message, false);
	field_text(reply_begin(&reply), "ended", "time");
	if (reply_end(&reply) == 0)
		query_server_publish(hand_back->core->server, channel, &tag, &message);
	channel->is_over = true;
	buffer_deinit(&message);
}

/* Its time is over, or the client has gone. */
static void expire(void *state, uint64_t now_ns)
{
	struct hand_back *hand_back = state;
	const struct core *core = hand_back->core;

	if (!core_is_lent(core) ||
	    (now_ns < core->handed_back_until_ns && channel_has_subscriber(&hand_back->channel)))
		return;
	end(hand_back);
	log_info("governing again, after the domains were handed back");
	tell_client(hand_back);
}

static uint64_t next_ns(void *state, uint64_t now_ns)
{
	const struct core *core = ((const struct hand_back *)state)->core;

	return core_is_lent(core) ? core->handed_back_until_ns : UINT64_MAX;
}

int hand_back_start(struct hand_back *hand_back, const char *governor, uint64_t for_us)
{
	struct core *core = hand_back->core;
	int r = check_governor(core, governor);

	if (r < 0)
		return r;
	core->handed_back_until_ns = time_now_ns() + for_us * NS_PER_US;
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

const struct module hand_back_module = {
	.name = "hand-back",
	.stop = stop,
	.expire = expire,
	.next_ns = next_ns,
};
