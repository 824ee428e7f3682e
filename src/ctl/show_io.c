// SPDX-License-Identifier: GPL-2.0-only
/* Tasks that do I/O and the devices that they use. */
#include <stdio.h>

#include "ctl/show.h"
#include "ctl/table.h"
#include "shared/cleanup.h"

#define LINE_WIDTH 80

void show_tasks(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "PID", TABLE_RIGHT, cell_number, "pid" },
		{ "TASK", TABLE_LEFT, cell_text, "comm" },
		{ "DOMAIN", TABLE_LEFT, cell_text, "domain" },
		{ "STATE", TABLE_LEFT, cell_text, "state" },
		{ "DEVICE", TABLE_LEFT, cell_text, "device" },
		{ "I/O/S", TABLE_RIGHT, cell_number, "io_rate_per_s" },
		{ "HOST", TABLE_RIGHT, cell_permille, "host_share_permille" },
		{ "GAIN", TABLE_RIGHT, cell_permille, "predicted_gain_permille" },
		{ "FOUND", TABLE_RIGHT, cell_gain, "measured_gain_permille" },
		{ "MHZ", TABLE_RIGHT, cell_mhz, "wanted_khz" },
		{ "HOLD", TABLE_RIGHT, cell_duration, "hold_left_us" },
	};
	static const struct table table = { columns, ARRAY_SIZE(columns), LINE_WIDTH, 1 };

	table_print(&table, json_object_get(reply, "tasks"), stdout);
}

void show_devices(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "DEVICE", TABLE_LEFT, cell_text, "name" },
		{ "TASKS", TABLE_RIGHT, cell_number, "tasks" },
		{ "DEPTH", TABLE_RIGHT, cell_number, "depth" },
		{ "I/O/S", TABLE_RIGHT, cell_number, "completions_per_s" },
		{ "IDLE", TABLE_RIGHT, cell_permille, "idle_permille" },
		{ "CPU", TABLE_RIGHT, cell_number, "completion_cpu" },
		{ "DOMAIN", TABLE_LEFT, cell_text, "completion_domain" },
		{ "BOOSTED", TABLE_RIGHT, cell_number, "boosted" },
		{ "TRYING", TABLE_RIGHT, cell_number, "trying" },
	};
	static const struct table table = { columns, ARRAY_SIZE(columns), LINE_WIDTH, 0 };

	if (!table_print(&table, json_object_get(reply, "devices"), stdout))
		puts("no block device was used since wakegovd started");
}
