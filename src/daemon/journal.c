// SPDX-License-Identifier: GPL-2.0-only
/* What the manager says of itself: one line for the journal, and the same for monitors. */
#include <stdio.h>

#include "daemon/manager_private.h"

#define NS_PER_US 1000ULL
#define LINE_SIZE 1024

static enum event_kind kind_of(enum message message)
{
	switch (message) {
	case MESSAGE_YIELDED:
	case MESSAGE_OFFLINE:
	case MESSAGE_ONLINE:
		return EVENT_YIELD;
	case MESSAGE_GOVERNING:
	case MESSAGE_POLICY_READ:
	case MESSAGE_OVERRIDE:
		return EVENT_CHANGE;
	default:
		return EVENT_ERROR;
	}
}

void manager_tell(struct manager *manager, enum message message, const struct message_about *about,
		  const char *format, ...)
{
	char line[LINE_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	message_put(message, about, line);
	if (!manager->server || !query_server_is_monitored(manager->server))
		return;
	query_server_publish(manager->server, &(struct event_view){
						      .kind = kind_of(message),
						      .monotonic_us = manager_now_ns() / NS_PER_US,
						      .domain = about ? about->domain : NULL,
						      .pid = about ? about->pid : 0,
						      .comm = about ? about->comm : NULL,
						      .message = line,
					      });
}
