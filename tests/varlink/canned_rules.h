/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The rules of canned_source.h: one, and what it is for. As struct query_source wants them. */

#include "varlink/view.h"

int canned_rules(void *userdata, rule_emit_t emit, void *context);
int canned_rule_tasks(void *userdata, const char *rule, uint32_t from, matched_emit_t emit,
		      void *context);
int canned_capped_tasks(void *userdata, uint32_t from, capped_emit_t emit, void *context);
void canned_count_rules(void *userdata, struct rules_view *ret);
int canned_explain_rules(void *userdata, uint32_t pid, struct ruled_task_view *ret,
			 task_rule_emit_t emit, void *context);
