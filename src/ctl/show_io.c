// SPDX-License-Identifier: GPL-2.0-only
/* Tasks that do I/O and the devices that they use. */
#include <inttypes.h>
#include <stdio.h>

#include "ctl/format.h"
#include "ctl/show.h"
#include "ctl/table.h"
#include "shared/cleanup.h"

#define LINE_WIDTH 80

static void add_number(struct table *table, const json_t *object, const char *key)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, field_number(object, key));
	table_add_text(table, field_is_known(object, key) ? number : NULL);
}

static void add_permille(struct table *table, const json_t *object, const char *key)
{
	if (field_is_known(object, key))
		table_add(table, format_permille(field_number(object, key)));
	else
		table_add_text(table, NULL);
}

static void add_gain(struct table *table, const json_t *object, const char *key)
{
	if (field_is_known(object, key))
		table_add(table, format_gain(field_number(object, key)));
	else
		table_add_text(table, NULL);
}

static void add_mhz(struct table *table, const json_t *object, const char *key)
{
	uint64_t khz = field_number(object, key);
	char mhz[24];

	snprintf(mhz, sizeof(mhz), "%" PRIu64, (khz + 500) / 1000);
	table_add_text(table, khz ? mhz : NULL);
}

static void add_task(struct table *table, const json_t *task)
{
	add_number(table, task, "pid");
	table_add_text(table, field_text(task, "comm"));
	table_add_text(table, field_text(task, "domain"));
	table_add_text(table, field_text(task, "state"));
	table_add_text(table, field_text(task, "device"));
	add_number(table, task, "io_rate_per_s");
	add_permille(table, task, "host_share_permille");
	add_permille(table, task, "predicted_gain_permille");
	add_gain(table, task, "measured_gain_permille");
	add_mhz(table, task, "wanted_khz");
	table_add(table, format_duration(field_number(task, "hold_left_us")));
}

void show_tasks(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "PID", TABLE_RIGHT },	 { "TASK", TABLE_LEFT },   { "DOMAIN", TABLE_LEFT },
		{ "STATE", TABLE_LEFT }, { "DEVICE", TABLE_LEFT }, { "I/O/S", TABLE_RIGHT },
		{ "HOST", TABLE_RIGHT }, { "GAIN", TABLE_RIGHT },  { "FOUND", TABLE_RIGHT },
		{ "MHZ", TABLE_RIGHT },	 { "HOLD", TABLE_RIGHT },
	};
	const json_t *tasks = json_object_get(reply, "tasks");
	_cleanup_(table_deinit) struct table table;
	const json_t *task;
	size_t i;

	table_init(&table, columns, ARRAY_SIZE(columns));
	table_fit(&table, LINE_WIDTH, 1);
	json_array_foreach(tasks, i, task)
		add_task(&table, task);

	table_print(&table, stdout);
}

static void add_device(struct table *table, const json_t *device)
{
	table_add_text(table, field_text(device, "name"));
	add_number(table, device, "tasks");
	add_number(table, device, "depth");
	add_number(table, device, "completions_per_s");
	add_permille(table, device, "idle_permille");
	add_number(table, device, "completion_cpu");
	table_add_text(table, field_text(device, "completion_domain"));
	add_number(table, device, "boosted");
	add_number(table, device, "trying");
}

void show_devices(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "DEVICE", TABLE_LEFT }, { "TASKS", TABLE_RIGHT },   { "DEPTH", TABLE_RIGHT },
		{ "I/O/S", TABLE_RIGHT }, { "IDLE", TABLE_RIGHT },    { "CPU", TABLE_RIGHT },
		{ "DOMAIN", TABLE_LEFT }, { "BOOSTED", TABLE_RIGHT }, { "TRYING", TABLE_RIGHT },
	};
	const json_t *devices = json_object_get(reply, "devices");
	_cleanup_(table_deinit) struct table table;
	const json_t *device;
	size_t i;

	table_init(&table, columns, ARRAY_SIZE(columns));
	table_fit(&table, LINE_WIDTH, 0);
	json_array_foreach(devices, i, device)
		add_device(&table, device);

	if (table.n_cells)
		table_print(&table, stdout);
	else
		puts("no block device was used since wakegovd started");
}
