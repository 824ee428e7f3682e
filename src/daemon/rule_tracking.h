/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Matches the tracer's facts with rules, and reports the matches to the core. */

#include "tracer/tracer.h"

struct manager;

/* Creates the table and, if the policy has rules, finds their tasks. */
int rule_tracking_start(struct manager *manager);

/* Warns of settings of the policy that have no effect on this machine. */
void rule_tracking_check_policy(struct manager *manager);

/* The manager and the core have a new policy. */
void rule_tracking_set_policy(struct manager *manager);

/* TRACER_FACTS, TRACER_GONE or TRACER_SCAN. */
void rule_tracking_take_event(struct manager *manager, const struct tracer_event *event);

/* Takes a task's present facts, which no event may have reported. */
void rule_tracking_look_at(struct manager *manager, const struct task_facts *facts);

/* The same for all threads of a process. */
void rule_tracking_look_at_process(struct manager *manager, uint32_t tgid);

/* Hints ended or changed, with the rules unchanged. */
void rule_tracking_rehint(struct manager *manager);

/* Scans all tasks. */
void rule_tracking_scan(struct manager *manager);

/*
 * Call this after records were taken, and at rule_tracking_next_ns(): plans a scan of all tasks if
 * records were lost, or if a rule that is a condition got its first task or lost its last.
 */
void rule_tracking_check_scan(struct manager *manager);

/* When a scan or the next check is due; UINT64_MAX: none is. */
uint64_t rule_tracking_next_ns(const struct manager *manager);
