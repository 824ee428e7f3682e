/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The replies of io.wakegov.HandBack: one at the start, one at the end. */

#include "varlink/reply.h"

struct manager;

/* ended: NULL for the first. */
int hand_back_stream_put_reply(struct reply *reply, const char *ended);

/* Sends the last one if the client is still there: the time is over. */
void hand_back_stream_end(struct manager *manager);
