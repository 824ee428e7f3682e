/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* io.wakegov.Monitor: what is reported, decisions, and changes of boosts, for clients that listen.
 */

#include "daemon/module.h"
#include "varlink/call.h"

struct monitor {
	struct core *core;
	struct channel channel;
	bool has_listener; /* at the last round */
};

extern const struct module monitor_module;

/* The method. */
int monitor_subscribe(const struct call *call, struct reply *reply);
