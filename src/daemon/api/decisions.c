// SPDX-License-Identifier: GPL-2.0-only
/* What was decided: the remembered decisions, and the sums of time and gains. */
#include "core/opp.h"
#include "daemon/api/api.h"
#include "daemon/history/past.h"
#include "shared/time.h"

#define PAGE_DECISIONS 2048 /* of memory: 1 to 2 KiB each */
/* In a place: it is the number of a decision in memory, not a place of the archive. */
#define IN_MEMORY (UINT64_C(1) << 62)

/* The reply that takes the archive's lines, up to those in memory. */
struct listing {
	struct json_out *out;
	uint64_t from_us;  /* wall clock */
	uint64_t until_ns; /* oldest decision in memory, by the monotonic clock … */
	uint64_t until_us; /* … and by the wall clock */
};

/* Monotonic times of two boots may be equal; their wall-clock times differ by more than this. */
#define SAME_US (10 * US_PER_S)

static void put_past(void *context, const struct archive_line *line)
{
	const struct listing *listing = context;

	if (line->realtime_us + SAME_US >= listing->until_us &&
	    line->monotonic_us >= listing->until_ns / NS_PER_US)
		return;
	if (line->realtime_us > listing->from_us)
		field_json(listing->out, NULL, line->text);
}

/* Returns the place of the next page; 0: it is the last one. */
static uint64_t put_memory(struct json_out *out, const struct past *past, uint64_t from,
			   uint64_t after_us)
{
	const struct decision_entry *entry;
	uint32_t n = PAGE_DECISIONS;

	for (uint32_t i = 0; (entry = decision_ring_at(past->ring, i)); i++) {
		if (entry->number < from || entry->change.decision.now_ns / NS_PER_US <= after_us)
			continue;
		if (!n--)
			return IN_MEMORY | entry->number;
		change_put(out, NULL, past->core, &entry->change, false);
	}
	return 0;
}

int api_list_decisions(const struct call *call, struct reply *reply)
{
	const struct manager *manager = call->userdata;
	const struct past *past = &manager->past;
	uint64_t after_us = (uint64_t)call_number(call, "after_us");
	uint64_t from = (uint64_t)call_number(call, "from"), next = 0;
	const struct decision_entry *oldest = decision_ring_at(past->ring, 0);
	uint64_t now_ns = time_now_ns();
	struct listing listing = {
		.out = reply_begin(reply),
		.from_us = (uint64_t)call_number(call, "since_realtime_us"),
		.until_ns = oldest ? oldest->change.decision.now_ns : now_ns,
	};
	bool wants_past, has_past = past->archive && call->peer->may_change;

	listing.until_us = (time_of_clock_ns(CLOCK_REALTIME) - (now_ns - listing.until_ns)) /
			   NS_PER_US;
	wants_past = call_has_number(call, "since_realtime_us") &&
		     listing.from_us < listing.until_us;
	field_open(listing.out, "decisions", '[');
	if (wants_past && has_past && !(from & IN_MEMORY))
		next = archive_list(past->archive, from, listing.from_us, put_past, &listing);
	if (!next)
		next = put_memory(listing.out, past, from & ~IN_MEMORY, after_us);
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
			uint64_t ns = past->stats->domains[domain].ns[opp][reason];

			if (!ns)
				continue;
			json_out_open(out, '{');
			field_count(out, "khz", info->opp_khz[opp]);
			field_text(out, "reason", reason_names[reason]);
			field_count(out, "time_us", ns / NS_PER_US);
			json_out_close(out, '}');
		}
	json_out_close(out, ']');
	json_out_close(out, '}');
}

/* Sums all domains' time at a frequency; with khz 0, for a reason. */
static uint64_t sum_us(const struct past *past, uint32_t khz, enum reason reason)
{
	const struct topology_domain *domains = past->core->topology->domains;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < past->core->n_domains; i++)
		for (uint32_t opp = 0; opp < domains[i].n_opps; opp++)
			for (enum reason of = 0; of <= REASON_LAST; of++)
				if (khz ? domains[i].opp_khz[opp] == khz : of == reason)
					ns += past->stats->domains[i].ns[opp][of];
	return ns / NS_PER_US;
}

/* Whether none of the domains before it has the OPP. */
static bool is_first(const struct topology *topology, uint32_t domain, uint32_t khz)
{
	while (domain-- > 0)
		if (opp_at_or_above(&topology->domains[domain], khz, 0, UINT32_MAX) == khz)
			return false;
	return true;
}

static void put_opps(struct json_out *out, const struct past *past)
{
	const struct topology *topology = past->core->topology;

	field_open(out, "opps", '[');
	for (uint32_t i = 0; i < past->core->n_domains; i++)
		for (uint32_t opp = 0; opp < topology->domains[i].n_opps; opp++) {
			uint32_t khz = topology->domains[i].opp_khz[opp];

			if (!is_first(topology, i, khz))
				continue;
			json_out_open(out, '{');
			field_count(out, "khz", khz);
			field_count(out, "time_us", sum_us(past, khz, 0));
			json_out_close(out, '}');
		}
	json_out_close(out, ']');
}

static void put_reasons_and_limits(struct json_out *out, const struct past *past)
{
	field_open(out, "reasons", '[');
	for (enum reason reason = 0; reason <= REASON_LAST; reason++) {
		json_out_open(out, '{');
		field_text(out, "reason", reason_names[reason]);
		field_count(out, "time_us", sum_us(past, 0, reason));
		field_count(out, "decisions", past->stats->decisions[reason]);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	field_open(out, "limits", '[');
	for (enum limiter limiter = 0; limiter <= LIMITER_LAST; limiter++) {
		json_out_open(out, '{');
		field_text(out, "limiter", limiter_names[limiter]);
		field_count(out, "decisions", past->stats->limits[limiter]);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* The rows, and their sums. */
static void put_gains(struct json_out *out, const struct stats *stats)
{
	uint64_t ios = 0, gained = 0;

	field_open(out, "gains", '[');
	for (uint32_t i = 0; i < stats->n_gains; i++) {
		const struct stats_gain *gain = &stats->gains[i];

		json_out_open(out, '{');
		field_text(out, "comm", gain->comm);
		field_text(out, "device", gain->device[0] ? gain->device : NULL);
		field_count(out, "ios", gain->ios);
		field_count(out, "gained_ios", gain->gained);
		field_count(out, "gained_error_ios", gain->gained_error);
		json_out_close(out, '}');
		ios += gain->ios;
		gained += gain->gained;
	}
	json_out_close(out, ']');
	field_count(out, "boosted_ios", ios);
	field_count(out, "gained_ios", gained);
}

int api_show_stats(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct past *past = &manager->past;
	const char *domain = call_text(call, "domain");
	uint32_t only = domain ? topology_find(manager->core.topology, domain) : TOPOLOGY_NO_DOMAIN;
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
	put_gains(out, past->stats);
	put_opps(out, past);
	put_reasons_and_limits(out, past);
	return reply_end(reply);
}
