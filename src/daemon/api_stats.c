// SPDX-License-Identifier: GPL-2.0-only
/* The time of domains by OPP and reason, and the gains and costs of boosts and caps. */
#include <errno.h>
#include <string.h>

#include "daemon/api.h"
#include "shared/cleanup.h"
#include "shared/time.h"

const char *api_stats_kind_name(enum stats_kind kind)
{
	static const char *const names[] = {
		[STATS_IO_BOOST] = "io-boost", [STATS_FLOOR] = "floor",	 [STATS_CAP] = "cap",
		[STATS_DOMAIN] = "domain",     [STATS_KINDS] = "others",
	};

	return names[kind];
}

static void put_times(struct json_out *out, const struct manager *manager,
		      const struct stats_period *period, uint32_t domain)
{
	const struct topology_domain *info = &manager->topology->domains[domain];

	json_out_open(out, '{');
	field_text(out, "domain", info->name);
	field_open(out, "times", '[');
	for (uint32_t opp = 0; opp < info->n_opps; opp++)
		for (enum reason reason = 0; reason <= REASON_LAST; reason++) {
			uint64_t ns = stats_ns(manager->stats, period, domain, opp, reason);

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
static void put_energy_source(struct json_out *out, const struct manager *manager)
{
	enum power_source source = manager->n_domains ? manager->domains[0].power_source
						      : POWER_UNKNOWN;

	for (uint32_t i = 1; i < manager->n_domains; i++)
		if (manager->domains[i].power_source != source)
			source = POWER_UNKNOWN;
	field_text(out, "energy_source", power_source_name(source));
	field_bool(out, "is_per_watt", source != POWER_POLICY);
}

int api_show_stats(const struct call *call, struct reply *reply)
{
	const char *name = call_text(call, "period") ?: "start";
	struct manager *manager = call->userdata;
	int32_t today = account_catch_up(manager).day;
	const struct stats_period *period = stats_since_start(manager->stats);
	struct stats_period *days = NULL;
	const struct stats_row *row;
	struct json_out *out;

	if (!strcmp(name, "today"))
		period = days = stats_sum_days(manager->stats, today, today);
	else if (!strcmp(name, "week"))
		period = days = stats_sum_days(manager->stats, today - STATS_DAYS + 1, today);
	else if (strcmp(name, "start") != 0)
		return reply_send_invalid(reply, "period");
	if (!period)
		return -ENOMEM;
	out = reply_begin(reply);
	field_open(out, "domains", '[');
	for (uint32_t i = 0; i < manager->n_domains; i++)
		put_times(out, manager, period, i);
	json_out_close(out, ']');
	field_open(out, "account", '[');
	for (uint32_t i = 0; (row = stats_row(period, i)); i++)
		put_row(out, row);
	json_out_close(out, ']');
	put_energy_source(out, manager);
	stats_period_free(days);
	return reply_end(reply);
}
