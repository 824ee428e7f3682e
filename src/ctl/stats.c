// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl stats: how long domains were at which frequency and why, and what boosts and caps
 * gained.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

static const char *const periods[] = { "start", "today", "week" };

/* A row of the table is a domain, an OPP and a reason, with a column for each period. */
static json_t *find_row(json_t *rows, const json_t *domain, const json_t *time)
{
	json_auto_t *key = json_pack("[O O O]", domain, json_object_get(time, "khz"),
				     json_object_get(time, "reason"));
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (json_equal(json_object_get(row, "key"), key))
			return row;
	row = json_pack("{sO sO sO sO}", "key", key, "domain", domain, "khz",
			json_object_get(time, "khz"), "reason", json_object_get(time, "reason"));
	json_array_append_new(rows, row);
	return row;
}

/* What was spent, or saved if negative: "+120", "-4". */
static char *cell_change(const json_t *row, const char *key)
{
	int64_t divisor = !strcmp(key, "mj") ? 1000 : 1;
	char spent[32], saved[32];

	snprintf(spent, sizeof(spent), "spent_%s", key);
	snprintf(saved, sizeof(saved), "saved_%s", key);
	return format_print(
		"%+" PRId64,
		((int64_t)field_number(row, spent) - (int64_t)field_number(row, saved)) / divisor);
}

static char *cell_gained(const json_t *row, const char *key)
{
	if (!field_is_known(row, key))
		return strdup("-");
	return format_print("%" PRIu64 " ± %" PRIu64, field_number(row, key),
			    field_number(row, "gained_error_ios"));
}

static const struct table_column account_columns[] = {
	{ "KIND", TABLE_LEFT, cell_text, "kind" },
	{ "OF", TABLE_LEFT, cell_text, "name" },
	{ "ON", TABLE_LEFT, cell_text, "device" },
	{ "TIME", TABLE_RIGHT, cell_duration, "time_us" },
	{ "GAINED I/O", TABLE_RIGHT, cell_gained, "gained_ios" },
	{ "MHZ·S", TABLE_RIGHT, cell_change, "mhz_s" },
	{ "JOULES", TABLE_RIGHT, cell_change, "mj" },
};
const struct table stats_account_table = { account_columns, ARRAY_SIZE(account_columns), TABLE_LINE,
					   1 };

char *stats_energy(const json_t *reply)
{
	const char *source = field_text(reply, "energy_source");

	return format_print("Joules are an estimate by %s%s.", source ? source : "frequency alone",
			    json_is_false(json_object_get(reply, "is_per_watt"))
				    ? ""
				    : ", for CPUs that take 1 W at their highest frequency");
}

static void show_account(const json_t *reply, const char *title)
{
	_cleanup_free_ char *energy = stats_energy(reply);

	printf("\n%s, compared with the same without it; a domain: with its former governor:\n",
	       title);
	if (!table_print(&stats_account_table, json_object_get(reply, "account"), stdout))
		puts("no boost and no cap was given");
	else
		print_line(stdout, "%s", energy ?: "?");
}

static void show_stats(const json_t *all)
{
	static const struct table_column columns[] = {
		{ "DOMAIN", TABLE_LEFT, cell_text, "domain" },
		{ "MHZ", TABLE_RIGHT, cell_mhz, "khz" },
		{ "REASON", TABLE_LEFT, cell_text, "reason" },
		{ "SINCE START", TABLE_RIGHT, cell_duration, "start" },
		{ "TODAY", TABLE_RIGHT, cell_duration, "today" },
		{ "THIS WEEK", TABLE_RIGHT, cell_duration, "week" },
	};
	static const struct table table = { columns, ARRAY_SIZE(columns), TABLE_LINE, 0 };
	json_auto_t *rows = json_array();
	const json_t *domain, *time;
	size_t i, j;

	for (size_t p = 0; p < ARRAY_SIZE(periods); p++)
		json_array_foreach(json_object_get(json_object_get(all, periods[p]), "domains"), i,
				   domain)
			json_array_foreach(json_object_get(domain, "times"), j, time)
				json_object_set(
					find_row(rows, json_object_get(domain, "domain"), time),
					periods[p], json_object_get(time, "time_us"));
	if (!table_print(&table, rows, stdout))
		puts("nothing is counted yet: wakegov drives no domain");
	show_account(json_object_get(all, "start"), "Since the start");
	show_account(json_object_get(all, "week"), "This week");
}

enum ctl_exit command_stats(struct ctl *ctl)
{
	json_auto_t *all = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		json_t *reply;
		enum ctl_exit code = ctl_call(ctl, "io.wakegov.Stats",
					      json_pack("{ss}", "period", periods[i]), &reply);

		if (code != CTL_OK)
			return code;
		json_object_set_new(all, periods[i], reply);
	}
	return ctl_print(ctl, all, show_stats);
}
