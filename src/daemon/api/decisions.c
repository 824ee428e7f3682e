// SPDX-License-Identifier: GPL-2.0-only
/* What was decided: the remembered decisions, and the sums of time and gains. */
#include <errno.h>
#include <string.h>

#include "daemon/api/api.h"
#include "daemon/history/past.h"
#include "daemon/history/stats.h"
#include "shared/time.h"

const char *api_rule_name(const struct policy *policy, const struct decision *decision)
{
	if (!rule_exists(policy, decision->rule - 1LL))
		return NULL;
	return policy->rules[decision->rule - 1].name;
}

/* A decision of the archive, with the names and the wall-clock time of then. */
static void put_decision(struct json_out *out, const struct decision_entry *entry,
			 const char *domain, const char *rule, uint64_t realtime_us)
{
	const struct decision *decision = &entry->decision;

	json_out_open(out, '{');
	field_count(out, "monotonic_us", decision->now_ns / NS_PER_US);
	field_nonzero(out, "realtime_us", realtime_us);
	field_text(out, "domain", domain);
	field_nonzero(out, "previous_khz", decision->previous_khz);
	field_nonzero(out, "target_khz", decision->target_khz);
	field_nonzero(out, "read_back_khz", entry->read_back_khz);
	field_text(out, "reason", reason_name(decision->reason));
	field_text(out, "limiter", limiter_name(decision->limiter));
	field_count(out, "demand_cap", decision->want_cap);
	field_count(out, "cpu", decision->cpu);
	field_nonzero(out, "pid", decision->pid);
	field_text(out, "comm", decision->comm[0] ? decision->comm : NULL);
	field_text(out, "rule", rule);
	field_nonzero(out, "capped_pid", decision->capped_pid);
	json_out_close(out, '}');
}

void api_put_decision(struct json_out *out, const struct core *core,
		      const struct decision_entry *entry)
{
	put_decision(out, entry, core->topology->domains[entry->decision.domain].name,
		     api_rule_name(&core->policy, &entry->decision), 0);
}

void api_put_past_decision(struct json_out *out, const struct history_entry *entry)
{
	const struct explained_rule *rule = &entry->entry.explanation.rule;

	put_decision(out, &entry->entry, entry->domain, rule->name[0] ? rule->name : NULL,
		     entry->realtime_us);
}

/* The reply that takes the archive's entries, up to those in memory. */
struct listing {
	struct json_out *out;
	uint64_t from_us;  /* wall clock */
	uint64_t until_ns; /* oldest decision in memory, by the monotonic clock … */
	uint64_t until_us; /* … and by the wall clock */
};

/* Monotonic times of two boots may be equal; their wall-clock times differ by more than this. */
#define SAME_US (10 * US_PER_S)

static void put_past(void *context, const struct history_entry *entry)
{
	const struct listing *listing = context;

	if (entry->realtime_us + SAME_US >= listing->until_us &&
	    entry->entry.decision.now_ns >= listing->until_ns)
		return;
	if (entry->realtime_us > listing->from_us)
		api_put_past_decision(listing->out, entry);
}

static struct listing find_memory(const struct decision_log *log)
{
	const struct decision_entry *oldest = decision_log_at(log, 0);
	uint64_t now_ns = time_now_ns();

	return (struct listing){
		.until_ns = oldest ? oldest->decision.now_ns : now_ns,
		.until_us = time_of_clock_ns(CLOCK_REALTIME) / NS_PER_US -
			    (now_ns - (oldest ? oldest->decision.now_ns : now_ns)) / NS_PER_US,
	};
}

int api_list_decisions(const struct call *call, struct reply *reply)
{
	const struct manager *manager = call->userdata;
	const struct core *core = &manager->core;
	const struct past *past = &manager->past;
	json_int_t after_us = call_number(call, "after_us"), from = call_number(call, "from");
	json_int_t since_us = call_number(call, "since_realtime_us");
	struct listing listing = find_memory(past->log);
	const struct decision_entry *entry;
	bool wants_past, has_past = past->archive && call->peer->may_change;
	uint64_t next = 0;

	wants_past = call_has_number(call, "since_realtime_us") &&
		     (uint64_t)since_us < listing.until_us;
	listing.from_us = (uint64_t)since_us;
	listing.out = reply_begin(reply);
	field_open(listing.out, "decisions", '[');
	if (wants_past && has_past)
		next = archive_list(past->archive, (uint64_t)from, listing.from_us, put_past,
				    &listing);
	for (uint32_t i = 0; !next && (entry = decision_log_at(past->log, i)); i++)
		if (entry->decision.now_ns / NS_PER_US > (uint64_t)after_us)
			api_put_decision(listing.out, core, entry);
	json_out_close(listing.out, ']');
	field_nonzero(listing.out, "next", next);
	field_bool(listing.out, "is_complete", !wants_past || has_past);
	return reply_end(reply);
}

static void put_times(struct json_out *out, const struct past *past, uint32_t domain)
{
	const struct topology_domain *info = &past->core->topology->domains[domain];

	json_out_open(out, '{');
	field_text(out, "domain", info->name);
	field_open(out, "times", '[');
	for (uint32_t opp = 0; opp < info->n_opps; opp++)
		for (enum reason reason = 0; reason <= REASON_LAST; reason++) {
			uint64_t ns = stats_ns(past->stats, domain, opp, reason);

			if (!ns)
				continue;
			json_out_open(out, '{');
			field_count(out, "khz", info->opp_khz[opp]);
			field_text(out, "reason", reason_name(reason));
			field_count(out, "time_us", ns / NS_PER_US);
			json_out_close(out, '}');
		}
	json_out_close(out, ']');
	json_out_close(out, '}');
}

static void put_gain(struct json_out *out, const struct stats_gain *gain)
{
	json_out_open(out, '{');
	field_text(out, "comm", gain->comm);
	field_text(out, "device", gain->device[0] ? gain->device : NULL);
	field_count(out, "ios", gain->ios);
	field_count(out, "gained_ios", gain->gained);
	field_count(out, "gained_error_ios", gain->gained_error);
	json_out_close(out, '}');
}

int api_show_stats(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct past *past = &manager->past;
	const char *domain = call_text(call, "domain");
	uint32_t only = domain ? topology_find(manager->core.topology, domain) : TOPOLOGY_NO_DOMAIN;
	const struct stats_gain *gain;
	struct json_out *out;

	if (domain && only == TOPOLOGY_NO_DOMAIN)
		return api_refuse_domain(reply, domain);
	past_catch_up(past);
	out = reply_begin(reply);
	field_open(out, "domains", '[');
	for (uint32_t i = 0; i < manager->core.n_domains; i++)
		if (!domain || i == only)
			put_times(out, past, i);
	json_out_close(out, ']');
	field_open(out, "gains", '[');
	for (uint32_t i = 0; (gain = stats_gain(past->stats, i)); i++)
		put_gain(out, gain);
	json_out_close(out, ']');
	return reply_end(reply);
}
