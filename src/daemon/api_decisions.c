// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/api.h"
#include "shared/time.h"

const char *api_rule_name(const struct manager *manager, const struct decision *decision)
{
	const struct policy *policy = &manager->policy;

	if (!rule_exists(policy, decision->rule - 1LL))
		return NULL;
	return policy->rules[decision->rule - 1].name;
}

void api_put_decision(struct json_out *out, const struct manager *manager,
		      const struct decision_entry *entry)
{
	const struct decision *decision = &entry->decision;

	json_out_open(out, '{');
	field_count(out, "monotonic_us", decision->now_ns / NS_PER_US);
	field_text(out, "domain", manager->topology->domains[decision->domain].name);
	field_nonzero(out, "previous_khz", decision->previous_khz);
	field_nonzero(out, "target_khz", decision->target_khz);
	field_nonzero(out, "read_back_khz", entry->read_back_khz);
	field_text(out, "reason", reason_name(decision->reason));
	field_text(out, "limiter", limiter_name(decision->limiter));
	field_count(out, "demand_cap", decision->want_cap);
	field_count(out, "cpu", decision->cpu);
	field_nonzero(out, "pid", decision->pid);
	field_text(out, "comm", decision->comm[0] ? decision->comm : NULL);
	field_text(out, "rule", api_rule_name(manager, decision));
	field_nonzero(out, "capped_pid", decision->capped_pid);
	json_out_close(out, '}');
}

int api_list_decisions(const struct call *call, struct reply *reply)
{
	const struct manager *manager = call->userdata;
	json_int_t after_us = call_number(call, "after_us");
	const struct decision_entry *entry;
	struct json_out *out;

	if (after_us < 0)
		return reply_send_invalid(reply, "after_us");
	out = reply_begin(reply);
	field_open(out, "decisions", '[');
	for (uint32_t i = 0; (entry = decision_log_at(manager->log, i)); i++)
		if (entry->decision.now_ns / NS_PER_US > (uint64_t)after_us)
			api_put_decision(out, manager, entry);
	json_out_close(out, ']');
	return reply_end(reply);
}
