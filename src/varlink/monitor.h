/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* io.wakegov.Monitor: a stream of what happens (varlink/channel.h). */

#include "varlink/call.h"
#include "varlink/reply.h"

/* The method: subscribes, and sends the first reply, which has no event in it. */
int monitor_subscribe(const struct call *call, struct reply *reply);

/* Tells the subscribers. Not to be called without any. */
void monitor_publish(struct channel *monitor, const struct event_view *event);
