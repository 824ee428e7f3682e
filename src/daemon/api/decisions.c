// SPDX-License-Identifier: GPL-2.0-only
/* What was decided: the remembered decisions, and the account of time, gains and costs. */
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

const char *api_stats_kind_name(enum stats_kind kind)
{
	static const char *const names[] = {
		[STATS_IO_BOOST] = "io-boost", [STATS_FLOOR] = "floor",	  [STATS_CAP] = "cap",
		[STATS_DOMAIN] = "domain",     [STATS_OTHERS] = "others", [STATS_CHAIN] = "chain",
	};

	return names[kind];
}

static void put_times(struct json_out *out, const struct past *past,
		      const struct stats_period *period, uint32_t domain)
{
	const struct topology_domain *info = &past->core->topology->domains[domain];

	json_out_open(out, '{');
	field_text(out, "domain", info->name);
	field_open(out, "times", '[');
	for (uint32_t opp = 0; opp < info->n_opps; opp++)
		for (enum reason reason = 0; reason <= REASON_LAST; reason++) {
			uint64_t ns = stats_ns(past->stats, period, domain, opp, reason);

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

static void put_row(struct json_out *out, const struct stats_row *row)
{
	const struct stats_sums *sums = &row->sums;
	bool compared = sums->ios != 0;

	json_out_open(out, '{');
	field_text(out, "kind", api_stats_kind_name(row->key.kind));
	field_text(out, "name", row->key.name);
	field_text(out, "device", row->key.device[0] ? row->key.device : NULL);
	field_count(out, "time_us", sums->ns / NS_PER_US);
	field_count(out, "spent_mhz_s", sums->spent_khz_ms / 1000000);
	field_count(out, "saved_mhz_s", sums->saved_khz_ms / 1000000);
	field_count(out, "spent_mj", (uint64_t)(sums->spent_j * 1000));
	field_count(out, "saved_mj", (uint64_t)(sums->saved_j * 1000));
	field_count_if(out, "ios", compared, sums->ios);
	field_count_if(out, "gained_ios", compared, sums->gained);
	field_count_if(out, "gained_error_ios", compared, sums->gained_error);
	json_out_close(out, '}');
}

/* The source for all domains. */
static void put_energy_source(struct json_out *out, const struct core *core)
{
	enum power_source source = core->n_domains ? core->domains[0].power_source : POWER_UNKNOWN;

	for (uint32_t i = 1; i < core->n_domains; i++)
		if (core->domains[i].power_source != source)
			source = POWER_UNKNOWN;
	field_text(out, "energy_source", power_source_name(source));
	field_bool(out, "is_per_watt", source != POWER_POLICY);
}

int api_show_stats(const struct call *call, struct reply *reply)
{
	const char *name = call_text(call, "period") ?: "start";
	struct manager *manager = call->userdata;
	struct core *core = &manager->core;
	struct past *past = &manager->past;
	int32_t today = account_catch_up(past).day;
	const struct stats_period *period = stats_since_start(past->stats);
	struct stats_period *days = NULL;
	const struct stats_row *row;
	struct json_out *out;

	if (!strcmp(name, "today"))
		period = days = stats_sum_days(past->stats, today, today);
	else if (!strcmp(name, "week"))
		period = days = stats_sum_days(past->stats, today - STATS_DAYS + 1, today);
	else if (strcmp(name, "start") != 0)
		return reply_send_invalid(reply, "period");
	if (!period)
		return -ENOMEM;
	out = reply_begin(reply);
	field_open(out, "domains", '[');
	for (uint32_t i = 0; i < core->n_domains; i++)
		put_times(out, past, period, i);
	json_out_close(out, ']');
	field_open(out, "account", '[');
	for (uint32_t i = 0; (row = stats_row(period, i)); i++)
		put_row(out, row);
	json_out_close(out, ']');
	put_energy_source(out, core);
	stats_period_free(days);
	return reply_end(reply);
}
