// SPDX-License-Identifier: GPL-2.0-only
/*
 * What this machine and its work say for a key of the policy: heat, a battery, background work, a
 * service with requests, tables that were full. Each is a finding of doctor, with the sentences of
 * words.json; its advice begins with the lines to write. None names a task in a pattern.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"
#include "shared/text.h"
#include "shared/time.h"

#define COMM_SIZE	16
#define BUSY_S		60 /* CPU time from which background work counts */
#define NAMES_SHOWN	3
#define MAX_TASKS	1024
#define MAX_RULED_TASKS 65536
#define KTHREAD_FLAG	0x00200000 /* PF_KTHREAD */

static void append(json_t *findings, const char *grade, const char *what, json_t *of)
{
	doctor_append(findings, grade, NULL, what, of);
}

static void advise_on_tables(json_t *findings, const json_t *status, const json_t *rules)
{
	uint64_t dropped = field_number(json_object_get(status, "drops"), "tasks");
	uint64_t room = field_number(json_object_get(status, "tasks"), "max");
	uint64_t refused = field_number(rules, "refused");
	uint64_t most = field_number(rules, "max_tasks") * 2;

	if (dropped && room < MAX_TASKS)
		append(findings, "note", "table of tasks",
		       json_pack("{sI sI si}", "times", (json_int_t)dropped, "room",
				 (json_int_t)room, "most", MAX_TASKS));
	if (refused && most <= MAX_RULED_TASKS)
		append(findings, "note", "table of ruled tasks",
		       json_pack("{sI sI}", "times", (json_int_t)refused, "most",
				 (json_int_t)most));
}

static void advise_on_heat(json_t *findings, const char *sys)
{
	double events = 0;

	sysfs_highest(&events, sys,
		      "/devices/system/cpu/cpu*/thermal_throttle/package_throttle_count");
	if (events)
		append(findings, "note", "heat", json_pack("{sI}", "times", (json_int_t)events));
}

struct work {
	const char *what, *condition;
	uint64_t cpu_s;
	char names[96];
	unsigned int n;
};

enum { NICED, BATCH, IDLE, WORKS };

/* Background work by its nice value or policy, and a service. */
struct processes {
	struct work works[WORKS];
	char unit[96], comm[COMM_SIZE];
};

static void add_work(struct work *work, const char *comm, uint64_t cpu_s)
{
	work->cpu_s += cpu_s;
	if (!strstr(work->names, comm) && work->n++ < NAMES_SHOWN)
		text_append(work->names, sizeof(work->names), "%s%s", work->names[0] ? ", " : "",
			    comm);
}

/* Services that answer requests, by their names. */
static bool serves(const char *comm)
{
	static const char *const names[] = { "postgres", "mysqld",  "mariadbd",	 "redis-server",
					     "mongod",	 "nginx",   "memcached", "valkey-server",
					     "haproxy",	 "apache2", "httpd" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(comm, names[i]))
			return true;
	return false;
}

/* The unit of a process: the last part of its cgroup, if that is a service of the system. */
static void add_service(struct processes *processes, const char *directory, const char *comm)
{
	char line[256];
	const char *unit;

	if (*processes->unit || !serves(comm) ||
	    sysfs_read_tagged(line, sizeof(line), "0::/system.slice/", "%s/cgroup", directory) <= 0)
		return;
	/* postgresql@15-main.service is below system-postgresql.slice. */
	unit = strrchr(line, '/') ? strrchr(line, '/') + 1 : line;
	if (strlen(unit) < 9 || strcmp(unit + strlen(unit) - 8, ".service") != 0 ||
	    strpbrk(unit, " \t\\;#*?["))
		return;
	snprintf(processes->unit, sizeof(processes->unit), "%s", unit);
	snprintf(processes->comm, sizeof(processes->comm), "%s", comm);
}

static void add_process(const char *directory, struct processes *processes)
{
	unsigned long long user = 0, system = 0, flags = 0;
	long nice = 0, policy = 0;
	char line[512], comm[COMM_SIZE];
	const char *fields;
	uint64_t cpu_s;

	if (!sysfs_read_line(comm, sizeof(comm), "%s/comm", directory) ||
	    !sysfs_read_line(line, sizeof(line), "%s/stat", directory))
		return;
	/* See proc_pid_stat(5); a name may have any character. */
	fields = strrchr(line, ')');
	if (!fields ||
	    sscanf(fields,
		   ") %*c %*s %*s %*s %*s %*s %llu %*s %*s %*s %*s %llu %llu %*s %*s %*s %ld "
		   "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %*s %*s %ld",
		   &flags, &user, &system, &nice, &policy) != 5 ||
	    flags & KTHREAD_FLAG)
		return;
	text_clean(comm);
	cpu_s = (user + system) / (uint64_t)sysconf(_SC_CLK_TCK);
	if (policy == 3)
		add_work(&processes->works[BATCH], comm, cpu_s);
	else if (policy == 5)
		add_work(&processes->works[IDLE], comm, cpu_s);
	else if (nice > 0)
		add_work(&processes->works[NICED], comm, cpu_s);
	add_service(processes, directory, comm);
}

static void advise_on_work(json_t *findings, const struct work *work)
{
	if (work->cpu_s >= BUSY_S)
		append(findings, "good", "background work",
		       json_pack("{ss sI ss sb ss}", "kind", work->what, "cpu_us",
				 (json_int_t)(work->cpu_s * US_PER_S), "names", work->names,
				 "has_more", work->n > NAMES_SHOWN, "condition", work->condition));
}

static void advise_on_processes(json_t *findings, const char *proc)
{
	_cleanup_closedir_ DIR *directory = opendir(proc);
	struct processes processes = {
		.works = { [NICED] = { "with a nice value above 0", "nice = 1..19" },
			   [BATCH] = { "of SCHED_BATCH", "scheduler = batch" },
			   [IDLE] = { "of SCHED_IDLE", "scheduler = idle" } },
	};
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char path[SYSFS_PATH_SIZE];

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/%.16s", proc, entry->d_name);
		add_process(path, &processes);
	}
	for (size_t i = 0; i < WORKS; i++)
		advise_on_work(findings, &processes.works[i]);
	if (*processes.unit)
		append(findings, "good", "a service with requests",
		       json_pack("{ss ss}", "unit", processes.unit, "comm", processes.comm));
}

static void find_battery(const char *supply, void *name)
{
	if (sysfs_is_battery(supply))
		snprintf(name, COMM_SIZE, "%.15s", strrchr(supply, '/') + 1);
}

/* Before all else: it is what the owner of a laptop asks first. */
static void advise_on_battery(json_t *findings, const char *sys)
{
	json_auto_t *first = json_array();
	char name[COMM_SIZE] = "";

	sysfs_each(find_battery, name, "%s/class/power_supply/*", sys);
	if (!*name)
		return;
	append(first, "good", "battery", json_pack("{ss}", "name", name));
	json_array_insert(findings, 0, json_array_get(first, 0));
}

void doctor_advise(json_t *findings, const char *sys, const char *proc, const json_t *status,
		   const json_t *rules)
{
	advise_on_tables(findings, status, rules);
	advise_on_heat(findings, sys);
	advise_on_processes(findings, proc);
	advise_on_battery(findings, sys);
}
