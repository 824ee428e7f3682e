// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl stats: a line for each domain with the shares of its time by reason, then the time at
 * each frequency and why, and what boosts gained.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

/* "5 ± 2" */
static char *cell_gained(const json_t *row, const char *key)
{
	return format_print("%" PRIu64 " ± %" PRIu64, field_number(row, key),
			    field_number(row, "gained_error_ios"));
}

static uint64_t sum_us(const json_t *domain, const char *reason)
{
	uint64_t us = 0;
	const json_t *time;
	size_t i;

	json_array_foreach(json_object_get(domain, "times"), i, time)
		if (!reason || field_is_word(time, "reason", reason))
			us += field_number(time, "time_us");
	return us;
}

/* "policy0    3.2 h, mean 812 MHz: idle 62.3 %, utilisation 37.7 %" */
static void show_summary(const json_t *domain)
{
	uint64_t whole_us = sum_us(domain, NULL);
	_cleanup_free_ char *whole = format_duration(whole_us);
	json_auto_t *shares = json_object();
	double mean_khz = 0;
	char text[512];
	const char *reason;
	const json_t *time;
	json_t *us;
	size_t i, n;

	json_array_foreach(json_object_get(domain, "times"), i, time) {
		reason = field_shown(time, "reason");
		json_object_set_new(shares, reason,
				    json_integer((json_int_t)sum_us(domain, reason)));
		mean_khz += (double)field_number(time, "khz") *
			    (double)field_number(time, "time_us") / (double)whole_us;
	}
	n = (size_t)snprintf(text, sizeof(text), "%s, mean %.0f MHz:", whole ?: "?",
			     mean_khz / 1000);
	json_object_foreach(shares, reason, us)
		if (n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %s %.1f %%",
					      text[n - 1] == ':' ? "" : ",", reason,
					      100.0 * (double)json_integer_value(us) /
						      (double)whole_us);
	paragraph_print(stdout, field_shown(domain, "domain"), text);
}

static void add_rows(json_t *rows, const json_t *domain)
{
	uint64_t whole_us = sum_us(domain, NULL);
	const json_t *time;
	size_t i;

	json_array_foreach(json_object_get(domain, "times"), i, time) {
		double us = (double)field_number(time, "time_us");
		json_t *row = json_copy((json_t *)time);

		json_object_set(row, "domain", json_object_get(domain, "domain"));
		json_object_set_new(row, "share",
				    json_sprintf("%.1f %%", 100 * us / (double)whole_us));
		json_array_append_new(rows, row);
	}
}

static char *cell_share(const json_t *row, const char *key)
{
	return cell_value(row, "share");
}

static void show_stats(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "DOMAIN", "domain" }, { "MHZ", "khz", cell_mhz },	    { "REASON", "reason" },
		{ "TIME", "time_us" },	{ "SHARE", "time_us", cell_share },
	};
	static const struct table_column gains[] = {
		{ "TASKS", "comm" },
		{ "ON", "device" },
		{ "BOOSTED I/O", "ios" },
		{ "GAINED I/O", "gained_ios", cell_gained },
	};
	static const struct table gains_table = { gains, ARRAY_SIZE(gains), TABLE_LINE, 0 };
	json_auto_t *rows = json_array();
	const json_t *domain;
	size_t i;

	json_array_foreach(json_object_get(reply, "domains"), i, domain) {
		if (!json_array_size(json_object_get(domain, "times")))
			continue;
		show_summary(domain);
		add_rows(rows, domain);
	}
	if (!json_array_size(rows))
		puts("nothing is counted yet: wakegov drives no domain");
	putchar('\n');
	table_print(TABLE(columns), rows, stdout);
	if (!json_array_size(json_object_get(reply, "gains")))
		return;
	puts("\nI/Os that boosts gained, as the experiments measured it:");
	table_print(&gains_table, json_object_get(reply, "gains"), stdout);
}

enum ctl_exit command_stats(struct ctl *ctl)
{
	const char *domain = ctl_value(ctl, "domain");
	json_auto_t *reply = NULL;
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.Stats", json_pack("{ss*}", "domain", domain),
				      &reply);

	return code == CTL_OK ? ctl_print(ctl, reply, show_stats) : code;
}
