/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* io.wakegov.Monitor: events for the clients that listen. */

#include "core/decision_log.h"
#include "core/task_table.h"
#include "varlink/call.h"

struct manager;

enum event_kind {
	EVENT_DECISION, /* a domain's target changed */
	EVENT_BOOST,	/* the state of a task's boost changed */
	EVENT_YIELD,	/* a domain was yielded, went offline or came back */
	EVENT_ERROR,	/* something failed */
	EVENT_CHANGE,	/* a change by a user: policy, override, recording */
	EVENT_KINDS,
};

/* The subject; 0 and NULL where it has none. */
struct event {
	enum event_kind kind;
	uint64_t now_ns;
	const char *domain;
	uint32_t pid;
	const char *comm;
	const char *message;		       /* a sentence */
	const struct decision_entry *decision; /* of EVENT_DECISION */
	const struct io_task *task;	       /* of EVENT_BOOST */
	const char *previous_state;	       /* previous state of the boost; NULL: a new task */
};

/* The Monitor method. */
int monitor_subscribe(const struct call *call, struct reply *reply);

/* Sends an event to the listeners; costs nothing without any. */
void monitor_publish(struct manager *manager, const struct event *event);

/* A decision that was logged. */
void monitor_publish_decision(struct manager *manager, const struct decision_entry *entry);

/* Sends changes of tasks' boosts; call it at the end of a round. */
void monitor_publish_boosts(struct manager *manager);
