/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What clients of the socket may ask for. Each method of io.wakegov.varlink is a function, which
 * writes its reply from what the daemon knows at that moment; a field that is shown stands in one
 * line of these files. call->userdata is the manager.
 */

#include "core/rule.h"
#include "daemon/state.h"
#include "varlink/field.h"
#include "varlink/method.h"

/* api.c: the table of methods, and those that change something and show little. */
extern const struct query_method api_methods[];

/* Opens the socket. Returns 0 or a negative errno, logged. */
int api_open(struct manager *manager);

/* api_status.c: the daemon and its domains. */
int api_show_status(const struct call *call, struct reply *reply);
int api_list_domains(const struct call *call, struct reply *reply);

/* The types Policy and Domain. */
void api_put_policy(struct json_out *out, const struct manager *manager);
void api_put_domain(struct json_out *out, struct manager *manager, uint32_t domain);

/* What a domain was asked for, in kHz; 0: nothing. A target that could not be asked for is none. */
struct api_asked {
	uint32_t target_khz;
	uint32_t min_khz; /* what it is held between: 0 where its governor is left alone */
	uint32_t max_khz;
};

struct api_asked api_asked(const struct manager *manager, uint32_t domain);
/* Of the domain's busiest CPU, now, 0…1024. */
uint32_t api_utilisation(struct manager *manager, uint32_t domain);
uint32_t api_count_followed(const struct engine *engine);

/* api_decisions.c: decisions that are remembered. */
int api_list_decisions(const struct call *call, struct reply *reply);

/* The type Decision. */
void api_put_decision(struct json_out *out, const struct manager *manager,
		      const struct decision_entry *entry);
void api_put_past_decision(struct json_out *out, const struct history_entry *entry);
/* The rule that acted, by its number under the policy of today; NULL: none. */
const char *api_rule_name(const struct manager *manager, const struct decision *decision);

/* api_tasks.c: tasks that do I/O. */
int api_list_tasks(const struct call *call, struct reply *reply);

/* The type Task. */
void api_put_task(struct json_out *out, const struct manager *manager, const struct io_task *task);
/* Of the time of an I/O, saved, as throughput gained: X' / X − 1 = u / (1 − u). */
uint32_t api_gain_permille(uint32_t saved_ppm);

/* api_devices.c: block devices, and what the administrator could do better. */
int api_list_devices(const struct call *call, struct reply *reply);
/* Sentences, in a list that is open. Reads /proc/interrupts for each device that one is about. */
int api_put_advice(struct json_out *out, const struct manager *manager);

/* api_rules.c: rules, and what they are for a task. */
int api_list_rules(const struct call *call, struct reply *reply);
int api_list_rule_tasks(const struct call *call, struct reply *reply);
int api_list_capped_tasks(const struct call *call, struct reply *reply);
int api_explain_rules(const struct call *call, struct reply *reply);

/* What a level is in a policy; NULL: it is not given. */
#define API_LEVEL_SIZE 24
const char *api_level_text(const struct policy_level *level, enum rule_property property,
			   char ret[static API_LEVEL_SIZE]);

/* api_placement.c: the field groups of a Rule, and the field unable of Status. */
void api_put_placed(struct json_out *out, const struct manager *manager,
		    const struct policy_rule *rule);
void api_put_unable(struct json_out *out, const struct manager *manager);

/* api_hint.c: classes, and the tasks that were hinted to be of one. */
int api_list_classes(const struct call *call, struct reply *reply);
int api_list_hints(const struct call *call, struct reply *reply);
int api_give_hint(const struct call *call, struct reply *reply);
int api_hold_hint(const struct call *call, struct reply *reply);

/* A page of a list: its entries keep their places as long as they are there. */
struct api_page {
	uint32_t from; /* the place where it begins */
	uint32_t left; /* of its entries */
	int64_t next;  /* the place where the next page begins; -1: this is the last one */
};

/* From offset and limit. The parameter that cannot be, or NULL. */
const char *api_read_page(const struct call *call, struct api_page *ret);
/* False: the page is full, and the next one begins here. */
bool api_take_place(struct api_page *page, uint32_t place);
/* Ends the list, and the reply with next_offset. */
int api_end_page(struct json_out *out, const struct api_page *page, struct reply *reply);

/* Properties as the fields cap, floor, io_boost and placement. */
void api_put_properties(struct json_out *out, const struct policy_properties *properties);

/* api_profile.c: profiles of the policy. */
int api_list_profiles(const struct call *call, struct reply *reply);
int api_choose_profile(const struct call *call, struct reply *reply);
int api_hold_profile(const struct call *call, struct reply *reply);

/* api_policy_hold.c: another policy for as long as the client listens. */
int api_hold_policy(const struct call *call, struct reply *reply);

/* api_hand_back.c: domains lent to another governor. */
int api_hand_back(const struct call *call, struct reply *reply);
/* The field of Status. */
void api_put_hand_back(struct json_out *out, const struct manager *manager);

/* api_stats.c: what is counted of decisions, for people. */
int api_show_stats(const struct call *call, struct reply *reply);
const char *api_stats_kind_name(enum stats_kind kind);

/* api_explain.c, api_override.c, api_metrics.c. */
int api_explain(const struct call *call, struct reply *reply);
int api_list_overrides(const struct call *call, struct reply *reply);
int api_add_override(const struct call *call, struct reply *reply);
int api_cancel_override(const struct call *call, struct reply *reply);
int api_show_metrics(const struct call *call, struct reply *reply);

/* "policyN", or NULL for TOPOLOGY_NO_DOMAIN. */
static inline const char *api_domain_name(const struct topology *topology, uint32_t domain)
{
	return domain < topology->n_domains ? topology->domains[domain].name : NULL;
}

static inline int api_refuse_domain(struct reply *reply, const char *domain)
{
	return reply_send_error(reply, "io.wakegov.NoSuchDomain",
				json_pack("{ss}", "domain", domain));
}

static inline int api_refuse_task(struct reply *reply, json_int_t pid)
{
	return reply_send_error(reply, "io.wakegov.NoSuchTask", json_pack("{sI}", "pid", pid));
}

static inline int api_refuse_rule(struct reply *reply, const char *rule)
{
	return reply_send_error(reply, "io.wakegov.NoSuchRule", json_pack("{ss}", "rule", rule));
}
