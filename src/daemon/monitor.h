/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* io.wakegov.Monitor: what happens, as events for the clients that listen. */

#include "core/decision_log.h"
#include "core/task_table.h"
#include "varlink/method.h"

struct manager;

enum event_kind {
	EVENT_DECISION, /* a domain's target changed */
	EVENT_BOOST,	/* what is thought of a task's boost changed */
	EVENT_YIELD,	/* a domain was left to somebody else, went offline or came back */
	EVENT_ERROR,	/* something could not be done */
	EVENT_CHANGE,	/* somebody changed what the daemon does: policy, override, recording */
	EVENT_KINDS,
};

/* What it is about; 0 and NULL where it is about none. */
struct event {
	enum event_kind kind;
	uint64_t now_ns;
	const char *domain;
	uint32_t pid;
	const char *comm;
	const char *message;		       /* a sentence */
	const struct decision_entry *decision; /* of EVENT_DECISION */
	const struct io_task *task;	       /* of EVENT_BOOST */
	const char *previous_state;	       /* of its boost; NULL: it has just come */
};

/* The method. */
int monitor_subscribe(const struct call *call, struct reply *reply);

/* Sends an event to those who listen; costs nothing while nobody does. */
void monitor_publish(struct manager *manager, const struct event *event);

/* A decision that was logged. */
void monitor_publish_decision(struct manager *manager, const struct decision_entry *entry);

/* What is new about the boosts of tasks: to be called at the end of a round. */
void monitor_publish_boosts(struct manager *manager);
