// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/command.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"
#include "shared/text.h"
#include "shared/time.h"

#define COMM_SIZE	16
#define BUSY_S		60		/* CPU time from which background work counts */
#define BOOSTED_US	(60 * US_PER_S) /* in force for so long a boost has shown what it brings */
#define GAIN_PERMILLE	10		/* of its I/Os, below which a boost brings nothing */
#define NAMES_SHOWN	3
#define MAX_TASKS	1024
#define MAX_RULED_TASKS 65536
#define KTHREAD_FLAG	0x00200000 /* PF_KTHREAD */

__attribute__((format(printf, 4, 5))) static void suggest(json_t *found, const char *section,
							  json_t *lines, const char *why, ...)
{
	char text[512];
	va_list args;

	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	json_array_append_new(found, json_pack("{so ss* so*}", "why", format_json(text), "section",
					       section, "lines", lines));
}

/* The same of the last suggestion, which is not put into force without a choice. */
static void leave_to_decide(const json_t *found)
{
	json_object_set_new(json_array_get(found, json_array_size(found) - 1), "to_decide",
			    json_true());
}

/* What is not good on this machine, whatever the policy says. */
static void find_faults(json_t *found, const json_t *findings)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding) {
		const char *advice = field_text(finding, "advice");

		if (!field_is_word(finding, "grade", "good") && advice && *advice)
			suggest(found, NULL, NULL, "%s: %s: %s.", field_shown(finding, "what"),
				field_shown(finding, "found"), advice);
	}
}

/*
 * How much was counted, and from an hour on the estimated energy of each domain against the
 * governor before wakegov.
 */
static void find_worth(json_t *found, const json_t *stats)
{
	const json_t *account, *time;
	uint64_t counted_us = 0;
	size_t i;

	json_array_foreach(
		json_object_get(json_array_get(json_object_get(stats, "domains"), 0), "times"), i,
		time)
		counted_us += field_number(time, "time_us");
	if (stats && counted_us < 86400 * US_PER_S) {
		_cleanup_free_ char *counted = format_duration(counted_us);

		suggest(found, NULL, NULL,
			"The statistics of the last week are of %s: ask again after a day of the usual "
			"work.",
			counted ?: "?");
	}
	if (counted_us < 3600 * US_PER_S)
		return;
	json_array_foreach(json_object_get(stats, "account"), i, account) {
		double joules = ((double)field_number(account, "spent_mj") -
				 (double)field_number(account, "saved_mj")) /
				1000;

		if (field_is_word(account, "kind", "domain"))
			suggest(found, NULL, NULL,
				"%s took %.3g J %s in the week than %s would have, by the estimate of "
				"wakegovctl stats; wakegovctl benefit measures it.",
				field_shown(account, "name"), joules < 0 ? -joules : joules,
				joules < 0 ? "less" : "more", field_shown(account, "device"));
	}
}

/* Tables that were too small. */
static void find_tables(json_t *found, const json_t *status, const json_t *rules)
{
	uint64_t dropped = field_number(json_object_get(status, "drops"), "tasks");
	uint64_t room = field_number(json_object_get(status, "tasks"), "max");
	uint64_t refused = field_number(rules, "refused");
	uint64_t most = field_number(rules, "max_tasks") * 2;

	if (dropped && room < MAX_TASKS)
		suggest(found, "wakegov", json_pack("[s]", "max-tasks = 1024"),
			"%" PRIu64 " times a task with I/O found no place in the table of %" PRIu64
			".",
			dropped, room);
	if (refused && most <= MAX_RULED_TASKS)
		suggest(found, "wakegov",
			json_pack("[o]", json_sprintf("max-ruled-tasks = %" PRIu64, most)),
			"%" PRIu64 " tasks that match a rule found no place in the table.",
			refused);
}

/* Who else decides about frequencies. */
static void find_scheduler(json_t *found, const char *sys)
{
	char name[64];

	if (!sysfs_read_line(name, sizeof(name), "%s/kernel/sched_ext/root/ops", sys))
		return;
	suggest(found, "wakegov", json_pack("[s]", "backend = limits"),
		"The sched_ext scheduler %s may set schedutil's targets itself; limits does not depend "
		"on them.",
		name);
	leave_to_decide(found);
}

static void find_heat(json_t *found, const char *sys)
{
	double events = 0;

	sysfs_highest(&events, sys,
		      "/devices/system/cpu/cpu*/thermal_throttle/package_throttle_count");
	if (!events)
		return;
	suggest(found, "domain", json_pack("[s]", "max-frequency = 90%"),
		"Heat throttled the CPUs %.0f times since the boot. A maximum that the cooling bears "
		"gives an even clock; 90 %% is a first guess.",
		events);
	leave_to_decide(found);
}

struct work {
	uint64_t cpu_s;
	char names[96];
	unsigned int n;
};

/* Background work by its nice value or policy, and services. */
struct processes {
	struct work niced, batch, idle;
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
static void note_service(struct processes *processes, const char *directory, const char *comm)
{
	char line[256];
	const char *unit;

	if (*processes->unit || !serves(comm) ||
	    sysfs_read_tagged(line, sizeof(line), "0::/system.slice/", "%s/cgroup", directory) <= 0)
		return;
	/* postgresql@15-main.service is below system-postgresql.slice. */
	unit = strrchr(line, '/') ? strrchr(line, '/') + 1 : line;
	if (strlen(unit) < 9 || strcmp(unit + strlen(unit) - 8, ".service") != 0 ||
	    strpbrk(unit, " \t\\;#"))
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
		   "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %*s %ld",
		   &flags, &user, &system, &nice, &policy) != 5 ||
	    flags & KTHREAD_FLAG)
		return;
	cpu_s = (user + system) / (uint64_t)sysconf(_SC_CLK_TCK);
	if (policy == 3)
		add_work(&processes->batch, comm, cpu_s);
	else if (policy == 5)
		add_work(&processes->idle, comm, cpu_s);
	else if (nice > 0)
		add_work(&processes->niced, comm, cpu_s);
	note_service(processes, directory, comm);
}

static void suggest_background(json_t *found, const struct work *work, const char *name,
			       const char *condition, const char *what)
{
	_cleanup_free_ char *took = format_duration(work->cpu_s * US_PER_S);
	char section[48];

	if (work->cpu_s < BUSY_S)
		return;
	snprintf(section, sizeof(section), "rule %s", name);
	suggest(found, section, json_pack("[s s]", condition, "class = background"),
		"Processes %s took %s of CPU time so far (%s%s). In the background they are capped at "
		"40 %%, unless others want the CPU's speed.",
		what, took ?: "?", work->names, work->n > NAMES_SHOWN ? ", …" : "");
}

static void find_work(json_t *found, const char *proc)
{
	_cleanup_closedir_ DIR *directory = opendir(proc);
	struct processes processes = { .niced = { 0 } };
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char path[SYSFS_PATH_SIZE];

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/%.16s", proc, entry->d_name);
		add_process(path, &processes);
	}
	suggest_background(found, &processes.niced, "niced", "nice = 1..19",
			   "with a nice value above 0");
	suggest_background(found, &processes.batch, "batch", "scheduler = batch", "of SCHED_BATCH");
	suggest_background(found, &processes.idle, "idle", "scheduler = idle", "of SCHED_IDLE");
	if (*processes.unit) {
		suggest(found, "rule served",
			json_pack("[o s]", json_sprintf("unit = %s", processes.unit),
				  "response = 2ms"),
			"%s runs (%s). If its requests have a deadline, give them a response: nine of "
			"ten bursts of work then end within it. wakegovctl rules says which frequency "
			"that takes.",
			processes.unit, processes.comm);
		leave_to_decide(found);
	}
}

struct boosts {
	const char *name;
	uint64_t ios, error_ios, time_us;
	int64_t gained_ios, spent_mhz_s, spent_mj;
};

/* All boosts of tasks of this name, on whichever disk. Returns whether it is the first of them. */
static bool sum_boosts(const json_t *accounts, size_t index, struct boosts *ret)
{
	const json_t *account;
	size_t i;

	*ret = (struct boosts){ .name = field_text(json_array_get(accounts, index), "name") };
	json_array_foreach(accounts, i, account) {
		if (!field_is_word(account, "kind", "io-boost") ||
		    !field_is_known(account, "ios") || !ret->name ||
		    !field_is_word(account, "name", ret->name))
			continue;
		if (i < index)
			return false;
		ret->ios += field_number(account, "ios");
		ret->gained_ios += json_integer_value(json_object_get(account, "gained_ios"));
		ret->error_ios += field_number(account, "gained_error_ios");
		ret->time_us += field_number(account, "time_us");
		ret->spent_mhz_s += (int64_t)field_number(account, "spent_mhz_s") -
				    (int64_t)field_number(account, "saved_mhz_s");
		ret->spent_mj += (int64_t)field_number(account, "spent_mj") -
				 (int64_t)field_number(account, "saved_mj");
	}
	return ret->time_us > 0;
}

/* Boosts that were tried, and brought less than they are worth: a rule saves also the trials. */
static void find_boosts(json_t *found, const json_t *stats)
{
	const json_t *accounts = json_object_get(stats, "account");
	unsigned int n = 0;

	for (size_t i = 0; i < json_array_size(accounts); i++) {
		_cleanup_free_ char *time = NULL, *pattern = NULL;
		char section[32];
		struct boosts boosts;

		if (!sum_boosts(accounts, i, &boosts) || boosts.time_us < BOOSTED_US ||
		    boosts.spent_mhz_s <= 0 || !*boosts.name ||
		    (boosts.gained_ios + (int64_t)boosts.error_ios) * 1000 >=
			    (int64_t)boosts.ios * GAIN_PERMILLE)
			continue;
		time = format_duration(boosts.time_us);
		pattern = format_pattern(boosts.name);
		snprintf(section, sizeof(section), "rule no-boost-%u", ++n);
		suggest(found, section,
			json_pack("[o s]", json_sprintf("comm = %s", pattern ?: "?"),
				  "io-boost = off"),
			"The I/O boost of %s was in force for %s of the week and gained %" PRId64
			" ± %" PRIu64 " of %" PRIu64 " I/Os, for %.3g J by the estimate.",
			pattern ?: "?", time ?: "?", boosts.gained_ios, boosts.error_ios,
			boosts.ios, (double)boosts.spent_mj / 1000);
	}
}

static void note_battery(const char *path, void *context)
{
	char *name = context, line[32], supply[SYSFS_PATH_SIZE];

	snprintf(supply, sizeof(supply), "%.*s", (int)(strrchr(path, '/') - path), path);
	if (!sysfs_read_line(line, sizeof(line), "%s", path) || strcmp(line, "Battery") != 0)
		return;
	/* Not that of a mouse. */
	if (sysfs_read_line(line, sizeof(line), "%s/scope", supply) && !strcmp(line, "Device"))
		return;
	snprintf(name, COMM_SIZE, "%.15s", strrchr(supply, '/') + 1);
}

static void find_battery(json_t *found, const char *sys)
{
	char name[COMM_SIZE] = "";

	sysfs_each(note_battery, name, "%s/class/power_supply/*/type", sys);
	if (*name)
		suggest(found, "profile quiet", json_pack("[s]", "when = battery"),
			"The machine has a battery (%s). With it alone no CPU runs above 60 %% of its "
			"highest frequency, and hardware that chooses frequencies prefers power.",
			name);
}

json_t *recommend_find(const struct recommend_sources *sources)
{
	json_t *found = json_array();

	if (!found)
		return NULL;
	find_faults(found, sources->findings);
	find_worth(found, sources->stats);
	find_scheduler(found, sources->sys);
	find_tables(found, sources->status, sources->rules);
	find_heat(found, sources->sys);
	find_work(found, sources->proc);
	find_boosts(found, sources->stats);
	find_battery(found, sources->sys);
	return found;
}
