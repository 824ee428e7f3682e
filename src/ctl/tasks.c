// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl tasks: tasks with much I/O, and the chains that ask for more than their CPUs. */
#include <inttypes.h>
#include <stdio.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

static char *cell_partner(const json_t *task, const char *key)
{
	const json_t *chain = json_object_get(task, key);

	if (!field_is_known(chain, "pid"))
		return format_print("(waited for)");
	return format_print("%s (pid %" PRIu64 ")", field_text(chain, "comm") ?: "?",
			    field_number(chain, "pid"));
}

static char *cell_together(const json_t *task, const char *key)
{
	return cell_value(json_object_get(task, key), "share_permille");
}

static void show_chains(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "PID", "pid" },
		{ "TASK", "comm" },
		{ "DOMAIN", "domain" },
		{ "WORKS FOR IT", "chain", cell_partner },
		{ "TOGETHER", "chain", cell_together },
	};
	static const struct table table = { columns, ARRAY_SIZE(columns), TABLE_LINE, 1 };
	const json_t *chains = json_object_get(reply, "chains");

	if (!json_array_size(chains))
		return;
	puts("\nchains, tasks that work in turn, and their share of a CPU:");
	table_print(&table, chains, stdout);
}

static void show(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "PID", "pid" },
		{ "TASK", "comm" },
		{ "DOMAIN", "domain" },
		{ "STATE", "state" },
		{ "DEVICE", "device" },
		{ "I/O/S", "io_rate_per_s" },
		{ "HOST", "host_share_permille" },
		{ "GAIN", "predicted_gain_permille" },
		{ "FOUND", "measured_gain_permille" },
		{ "MHZ", "wanted_khz", cell_mhz },
		{ "HOLD", "hold_left_us" },
	};
	static const struct table table = { columns, ARRAY_SIZE(columns), TABLE_LINE, 1 };

	if (!table_print(&table, json_object_get(reply, "tasks"), stdout))
		printf("no task does %" PRIu64 " I/Os per second or more (min-rate in [io-boost], "
		       "wakegov.conf(5))\n",
		       field_number(reply, "min_rate_per_s"));
	show_chains(reply);
}

enum ctl_exit command_tasks(struct ctl *ctl)
{
	return ctl_ask(ctl, "io.wakegov.Tasks", NULL, show);
}
