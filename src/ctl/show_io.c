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
	table_add(table, format_duration(field_number(task, "lease_left_us")));
}

void show_tasks(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "PID", TABLE_RIGHT },	 { "TASK", TABLE_LEFT },   { "DOMAIN", TABLE_LEFT },
		{ "STATE", TABLE_LEFT }, { "DEVICE", TABLE_LEFT }, { "I/O/S", TABLE_RIGHT },
		{ "HOST", TABLE_RIGHT }, { "GAIN", TABLE_RIGHT },  { "FOUND", TABLE_RIGHT },
		{ "MHZ", TABLE_RIGHT },	 { "LEASE", TABLE_RIGHT },
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

static void add_calibration(struct table *table, const json_t *device)
{
	uint64_t permille = field_number(device, "calibration_permille");
	char factor[32];

	snprintf(factor, sizeof(factor), "%" PRIu64 ".%02" PRIu64, permille / 1000,
		 permille % 1000 / 10);
	table_add_text(table, permille ? factor : NULL);
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
	table_add_text(table, field_text(device, "check"));
	add_permille(table, device, "predicted_gain_permille");
	add_gain(table, device, "measured_gain_permille");
	add_calibration(table, device);
	if (field_is_known(device, "retry_us"))
		table_add(table, format_duration(field_number(device, "retry_us")));
	else
		table_add_text(table, NULL);
}

/* A second domain that is kept up for one device is rare, and worth a line of its own. */
static void show_interrupts(const json_t *device)
{
	_cleanup_free_ char *mhz = format_frequency(field_number(device, "interrupt_khz"));
	_cleanup_free_ char *check = format_clean(field_text(device, "interrupt_check"));
	_cleanup_free_ char *name = format_clean(field_text(device, "name"));
	const char *domain = field_text(device, "interrupt_domain");
	_cleanup_free_ char *clean_domain = format_clean(domain);

	if (domain)
		printf("%s: a boost of %s for its completions only: %s, %s\n", name, clean_domain,
		       check, mhz);
}

void show_devices(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "DEVICE", TABLE_LEFT }, { "TASKS", TABLE_RIGHT }, { "DEPTH", TABLE_RIGHT },
		{ "I/O/S", TABLE_RIGHT }, { "IDLE", TABLE_RIGHT },  { "CPU", TABLE_RIGHT },
		{ "DOMAIN", TABLE_LEFT }, { "CHECK", TABLE_LEFT },  { "GAIN", TABLE_RIGHT },
		{ "FOUND", TABLE_RIGHT }, { "CALIB", TABLE_RIGHT }, { "RETRY", TABLE_RIGHT },
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
	json_array_foreach(devices, i, device)
		show_interrupts(device);
	if (!table.n_cells)
		puts("no block device was used since wakegovd started");
}
