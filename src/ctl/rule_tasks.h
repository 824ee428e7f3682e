/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The threads that a rule is for, asked for and shown. */

#include "ctl/command.h"

/*
 * Adds "threads" to a rule of a Rules reply, at most max of them: an array of what RuleTasks gives.
 * Anything but CTL_OK was told on standard error.
 */
enum ctl_exit rule_tasks_add(const struct ctl *ctl, json_t *rule, size_t max);

/* A line of a rule with threads: "backup: tar (812), fio (813) and 17 more". */
void rule_tasks_print_line(const json_t *rule);

/* What is known of one rule, and a table of its threads. */
void rule_tasks_show(const json_t *rule);
