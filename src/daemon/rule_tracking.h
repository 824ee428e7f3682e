/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Rules on their way from the tracer's facts to the core: what only the manager may connect. */

#include "tracer/tracer.h"

struct manager;

/* Makes the table and, where the policy has rules, finds the tasks that they are for. */
int rule_tracking_start(struct manager *manager);
void rule_tracking_end(struct manager *manager);

/* Warns of what is odd about the policy on this machine. */
void rule_tracking_check_policy(struct manager *manager);

/* The manager's policy is a new one, and the core has it. */
void rule_tracking_set_policy(struct manager *manager);

/* TRACER_FACTS, TRACER_GONE or TRACER_SCAN. */
void rule_tracking_take_event(struct manager *manager, const struct tracer_event *event);

/* A task's present facts, of which no event may have told. */
void rule_tracking_look_at(struct manager *manager, const struct task_facts *facts);

/* The same for all threads of a process. */
void rule_tracking_look_at_process(struct manager *manager, uint32_t tgid);

/* Hints ended or changed, and no rule came or went by it. */
void rule_tracking_rehint(struct manager *manager);

/* Looks at all tasks that there are. */
void rule_tracking_scan(struct manager *manager);

/* The same where there are rules: what was not traced for a while is not known. */
void rule_tracking_look_again(struct manager *manager);

/*
 * To be called after records were taken: where some were lost, or a rule that another waits for has
 * its first task or lost its last one, all tasks are looked at.
 */
void rule_tracking_mind_events(struct manager *manager);
