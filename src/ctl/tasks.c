// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl tasks: tasks with much I/O; if there are none, those with most of it. Then the chains
 * that ask for more than their CPUs.
 */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"
#include "shared/text.h"

#define PROCESSES_MAX 8192
#define BUSIEST	      3
#define SAMPLE_US     500000
#define PER_S	      (1000000 / SAMPLE_US)

struct process {
	unsigned int pid;
	uint64_t bytes; /* I/O to and from storage since it began, then since the first look */
};

/* False: it has exited, or we may not look at it. */
static bool read_bytes(unsigned int pid, uint64_t *ret)
{
	uint64_t read_bytes = 0, write_bytes = 0;
	_cleanup_fclose_ FILE *file = NULL;
	char path[32], line[64];

	snprintf(path, sizeof(path), "/proc/%u/io", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "read_bytes: %" SCNu64, &read_bytes);
		sscanf(line, "write_bytes: %" SCNu64, &write_bytes);
	}
	*ret = read_bytes + write_bytes;
	return !ferror(file);
}

static size_t list_processes(struct process *ret)
{
	_cleanup_closedir_ DIR *directory = opendir("/proc");
	const struct dirent *entry;
	size_t n = 0;

	while (directory && n < PROCESSES_MAX && (entry = readdir(directory))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		ret[n].pid = (unsigned int)atoi(entry->d_name);
		n += read_bytes(ret[n].pid, &ret[n].bytes);
	}
	return n;
}

static int compare_bytes(const void *a, const void *b)
{
	uint64_t first = ((const struct process *)a)->bytes;
	uint64_t second = ((const struct process *)b)->bytes;

	return (first < second) - (first > second);
}

static void print_busiest(void)
{
	_cleanup_free_ struct process *processes = calloc(PROCESSES_MAX, sizeof(*processes));
	size_t n;

	if (!processes)
		return;
	n = list_processes(processes);
	usleep(SAMPLE_US);
	for (size_t i = 0; i < n; i++) {
		uint64_t before = processes[i].bytes, now;

		processes[i].bytes = read_bytes(processes[i].pid, &now) && now > before
					     ? now - before
					     : 0;
	}
	qsort(processes, n, sizeof(*processes), compare_bytes);
	if (!n || !processes[0].bytes) {
		puts("nor does any that you may look at read or write a disk now");
		return;
	}
	puts("those below it that read and write most, of what you may look at:");
	for (size_t i = 0; i < n && i < BUSIEST && processes[i].bytes; i++) {
		_cleanup_free_ char *rate = format_size(processes[i].bytes * PER_S / 1024);
		char comm[32];

		if (sysfs_read_line(comm, sizeof(comm), "/proc/%u/comm", processes[i].pid))
			printf("  %s (pid %u): %s per second\n", text_clean(comm), processes[i].pid,
			       rate);
	}
}

static char *cell_partner(const json_t *task, const char *key)
{
	const json_t *chain = json_object_get(task, key);

	if (!field_is_known(chain, "pid"))
		return format_print("an input event");
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

	if (!table_print(&table, json_object_get(reply, "tasks"), stdout)) {
		printf("no task does %" PRIu64 " I/Os per second or more (min-rate in [io-boost], "
		       "wakegov.conf(5))\n",
		       field_number(reply, "min_rate_per_s"));
		print_busiest();
	}
	show_chains(reply);
}

enum ctl_exit command_tasks(struct ctl *ctl)
{
	return ctl_ask(ctl, "io.wakegov.Tasks", NULL, show);
}
