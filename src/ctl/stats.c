// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl stats: a line for each domain with the shares of its time by reason, then the time at
 * each frequency and why, and what boosts gained.
 */
#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

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

static json_t *share(uint64_t us, uint64_t whole_us)
{
	return json_sprintf("%.1f %%", 100 * (double)us / (double)whole_us);
}

/* Each of the domain's times becomes a row; it gets the mean, and the share of each reason. */
static void add_domain(json_t *domain, json_t *rows)
{
	uint64_t whole_us = sum_us(domain, NULL);
	json_t *time, *shares = json_object();
	double mean_khz = 0;
	size_t i;

	json_object_set_new(domain, "whole_us", json_integer((json_int_t)whole_us));
	json_object_set_new(domain, "shares", shares);
	json_array_foreach(json_object_get(domain, "times"), i, time) {
		const char *reason = field_shown(time, "reason");

		json_object_set(time, "domain", json_object_get(domain, "domain"));
		json_object_set_new(time, "share", share(field_number(time, "time_us"), whole_us));
		json_array_append(rows, time);
		mean_khz += (double)field_number(time, "khz") *
			    (double)field_number(time, "time_us") / (double)whole_us;
		json_object_set_new(shares, reason, share(sum_us(domain, reason), whole_us));
	}
	json_object_set_new(domain, "mean_khz", json_integer((json_int_t)mean_khz));
}

static void add(json_t *reply)
{
	json_t *domain, *rows = json_array();
	size_t i;

	json_object_set_new(reply, "rows", rows);
	json_array_foreach(json_object_get(reply, "domains"), i, domain)
		add_domain(domain, rows);
}

enum ctl_exit command_stats(struct ctl *ctl)
{
	const char *domain = ctl_value(ctl, "domain");
	json_auto_t *reply = NULL;
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.Stats", json_pack("{ss*}", "domain", domain),
				      &reply);

	return code == CTL_OK ? ctl_print(ctl, reply, "stats", add) : code;
}
