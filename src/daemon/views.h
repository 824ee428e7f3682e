/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The lists of struct query_source that are not about domains. userdata is the manager. */

#include "core/decision_log.h"
#include "core/rule.h"
#include "varlink/view.h"

struct manager;

/* views.c: what is borrowed belongs to the manager. */
void views_show_domain(struct manager *manager, uint32_t domain, struct domain_view *ret);
struct decision_view views_decision(const struct manager *manager,
				    const struct decision_entry *entry);

int views_show_status(void *userdata, struct status_view *ret);
int views_list_programs(void *userdata, program_emit_t emit, void *context);
int views_list_domains(void *userdata, domain_emit_t emit, void *context);
int views_list_decisions(void *userdata, uint64_t after_us, decision_emit_t emit, void *context);
bool views_knows_domain(void *userdata, const char *name);
uint32_t views_io_min_rate(void *userdata);

/* Tells the monitors of a decision that was logged. */
void manager_show_decision(struct manager *manager, const struct decision_entry *entry);

/* views_explain.c: as struct query_source describes it. */
int views_explain(void *userdata, const struct explain_request *request, explain_emit_t emit,
		  void *context);

/* What a level is in a policy; NULL: it is not given. */
#define VIEWS_LEVEL_SIZE 24
const char *views_level_text(const struct policy_level *level, enum rule_property property,
			     char ret[static VIEWS_LEVEL_SIZE]);

/* views_rules.c: likewise. */
int views_list_rules(void *userdata, rule_emit_t emit, void *context);
int views_list_rule_tasks(void *userdata, const char *rule, uint32_t from, matched_emit_t emit,
			  void *context);
int views_list_capped(void *userdata, uint32_t from, capped_emit_t emit, void *context);
void views_count_rules(void *userdata, struct rules_view *ret);
int views_explain_rules(void *userdata, uint32_t pid, struct ruled_task_view *ret,
			task_rule_emit_t emit, void *context);

/* Of the time of an I/O, saved, as throughput gained: X' / X − 1 = u / (1 − u). */
uint32_t views_gain_permille(uint32_t saved_ppm);

/* views_io.c: the lists of struct query_source that are about I/O. userdata is the manager. */

int views_list_tasks(void *userdata, task_emit_t emit, void *context);
int views_list_devices(void *userdata, device_emit_t emit, void *context);
int views_list_opp_times(void *userdata, opp_time_emit_t emit, void *context);
int views_list_counts(void *userdata, enum count_kind kind, count_emit_t emit, void *context);
/* Reads /proc/interrupts once per device that there is something to say of. */
int views_list_advice(void *userdata, advice_emit_t emit, void *context);

/* Tells the monitors what is new about the boosts of tasks. */
void manager_show_boosts(struct manager *manager);
