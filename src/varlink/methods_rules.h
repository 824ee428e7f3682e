/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* io.wakegov.Rules, RuleTasks, CappedTasks and ExplainRules, as varlink/interface.h wants them. */

#include "varlink/call.h"
#include "varlink/reply.h"

int methods_list_rules(const struct call *call, struct reply *reply);
/* Names are read from /proc, which takes the daemon's time: no page is longer. */
#define METHODS_RULE_TASKS_MAX 100

int methods_list_rule_tasks(const struct call *call, struct reply *reply);
int methods_list_capped(const struct call *call, struct reply *reply);
int methods_explain_rules(const struct call *call, struct reply *reply);
