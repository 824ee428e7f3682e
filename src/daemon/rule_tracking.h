/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Matches the tracer's facts with rules, and reports the matches to the engine. Its row among the
 * modules begins it and gives it its time; the others hear of tasks from it.
 */

#include "daemon/module.h"

extern const struct module rule_tracking_module;

/* Warns of settings of the policy that have no effect on this machine. */
void rule_tracking_check_policy(struct core *core);

/* Other rules are in force: the policy and the engine have them. */
void rule_tracking_set_policy(struct core *core);

/* Compares the rules with a task's present facts, which no event may have reported. */
void rule_tracking_update_task(struct core *core, const struct task_facts *facts);

/* The same for all threads of a process. */
void rule_tracking_update_process(struct core *core, uint32_t tgid);

/* Hints ended or changed, with the rules unchanged. */
void rule_tracking_rehint(struct core *core);

/*
 * Has the task's children reported that still wait for it: to be called before its own state
 * changes. pid 0: all that wait.
 */
void rule_tracking_report_children(struct core *core, uint32_t pid);

/* Scans all tasks. */
void rule_tracking_scan(struct core *core);

/*
 * Call this after records were taken: plans a scan of all tasks if some were lost, or if a rule
 * that is a condition got its first task or lost its last.
 */
void rule_tracking_check_scan(struct core *core);
