/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The replies of io.wakegov.HandBack: one when it is done, one when it is over. */

#include "varlink/reply.h"

struct manager;

/* ended: NULL for the first. */
int hand_back_stream_put_reply(struct reply *reply, const char *ended);

/* The last one, where its client is still there: its time is over. */
void hand_back_stream_end(struct manager *manager);
