/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* io.wakegov.Rules and ExplainRules, as query/interface.h wants them. */

#include "query/call.h"
#include "query/reply.h"

int methods_list_rules(const struct call *call, struct reply *reply);
int methods_explain_rules(const struct call *call, struct reply *reply);
