// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds everything else that limits or sets frequencies: programs, firmware, cooling, turbo, a
 * scheduler in BPF.
 */
#include "diag/diag.h"

#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "actuator/discovery.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"

/* The broker answers by itself; a hanging one must not block the daemon. */
#define BUS_TIMEOUT_US 200000

#define COMM_SIZE      16 /* of the kernel, with the NUL */

/* What runs is found by its process; what does not stay, by what it leaves. */
static const struct trace {
	const char *name, *program, *path;
} traces[] = {
	{ "power-profiles-daemon", .program = "power-profiles-daemon" },
	{ "TuneD", .program = "tuned" },
	{ "tuned-ppd", .program = "tuned-ppd" },
	{ "TLP", .path = "/run/tlp/last_pwr" },
	{ "tlp-pd", .program = "tlp-pd" },
	{ "auto-cpufreq", .program = "auto-cpufreq" },
	{ "thermald", .program = "thermald" },
	{ "gamemode", .program = "gamemoded" },
	{ "intel_lpmd", .program = "intel_lpmd" },
	{ "asusd", .program = "asusd" },
	{ "system76-power", .program = "system76-power" },
	{ "schedqos", .program = "schedqos" },
};

/* Owns one of the names that programs share for the desktop's switch. */
#define OTHER_SWITCH "another owner of PowerProfiles"

_Static_assert(ARRAY_SIZE(traces) < CONFLICTS_MAX, "raise CONFLICTS_MAX");

static void bus_unrefp(sd_bus **bus)
{
	sd_bus_flush_close_unref(*bus);
}

/* The process that owns the name; 0: none, or it is not known. */
static uint32_t owner_of(sd_bus *bus, const char *name)
{
	sd_bus_message *reply = NULL;
	uint32_t pid = 0;

	if (!bus)
		return 0;
	if (sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
			       "org.freedesktop.DBus", "GetConnectionUnixProcessID", NULL, &reply,
			       "s", name) >= 0)
		sd_bus_message_read(reply, "u", &pid);
	sd_bus_message_unref(reply);
	return pid;
}

/*
 * Compares a process's comm, which the kernel cuts, with a program's name. A script's comm is the
 * script's; NixOS's wrapper puts a dot before it. The command line is not read, as that waits while
 * the process's memory is locked.
 */
static bool is_program(const char *comm, const char *program)
{
	size_t length = strlen(program);

	if (comm[0] == '.')
		return strncmp(comm + 1, program,
			       length < COMM_SIZE - 2 ? length : COMM_SIZE - 2) == 0;
	return strncmp(comm, program, COMM_SIZE - 1) == 0;
}

/* Bits: 1 << index into traces. */
static uint32_t find_process(uint32_t pid)
{
	char comm[COMM_SIZE];
	uint32_t found = 0;

	if (!sysfs_read_line(comm, sizeof(comm), "/proc/%u/comm", pid))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(traces); i++)
		if (traces[i].program && is_program(comm, traces[i].program))
			found |= 1u << i;
	return found;
}

static uint32_t find_processes(void)
{
	_cleanup_closedir_ DIR *processes = opendir("/proc");
	const struct dirent *entry;
	uint32_t found = 0;

	while (processes && (entry = readdir(processes)))
		if (isdigit((unsigned char)entry->d_name[0]))
			found |= find_process(strtoul(entry->d_name, NULL, 10));
	return found;
}

/* A known program is found by itself. */
static bool has_other_switch(sd_bus *bus)
{
	static const char *const names[] = { "org.freedesktop.UPower.PowerProfiles",
					     "net.hadess.PowerProfiles" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint32_t pid = owner_of(bus, names[i]);

		if (pid && !find_process(pid))
			return true;
	}
	return false;
}

void conflicts_find(void (*found)(void *userdata, const char *name), void *userdata)
{
	_cleanup_(bus_unrefp) sd_bus *bus = NULL;
	uint32_t processes = find_processes();

	if (sd_bus_open_system(&bus) >= 0)
		sd_bus_set_method_call_timeout(bus, BUS_TIMEOUT_US);
	for (size_t i = 0; i < ARRAY_SIZE(traces); i++) {
		const struct trace *trace = &traces[i];

		if (processes & (1u << i) || (trace->path && access(trace->path, F_OK) == 0))
			found(userdata, trace->name);
	}
	if (has_other_switch(bus))
		found(userdata, OTHER_SWITCH);
}

struct search {
	const char *sys;
	const struct throttle_domain *domain;
	int (*emit)(void *context, const struct throttle *found);
	void *context;
	int r;		 /* result of emit; anything but 0 ends the search */
	bool lowers_max; /* something lowers scaling_max_freq … */
	bool lowers;	 /* … or lowers the frequency without showing there */
};

static void report(struct search *search, const struct throttle *found)
{
	if (!search->r)
		search->r = search->emit(search->context, found);
}

static bool read_cpu_file(const struct search *search, const char *file, double *ret)
{
	return sysfs_read_number(ret, "%s/devices/system/cpu/%s", search->sys, file);
}

static void find_firmware(struct search *search)
{
	const struct throttle_domain *domain = search->domain;
	double bios_khz;

	if (domain->scaling_max_khz >= domain->highest_khz ||
	    !sysfs_read_number(&bios_khz, "%s/devices/system/cpu/cpu%u/cpufreq/bios_limit",
			       search->sys, domain->first_cpu) ||
	    bios_khz > domain->scaling_max_khz)
		return;
	search->lowers_max = true;
	report(search, &(struct throttle){ .who = "firmware", .khz = (uint32_t)bios_khz });
}

bool cooling_limits_cpus(const char *type, bool *ret_injects_idle)
{
	*ret_injects_idle = !strcmp(type, "intel_powerclamp") || !strncmp(type, "idle-", 5);
	return *ret_injects_idle || !strcmp(type, "Processor") || strstr(type, "cpufreq");
}

/* A cooling device that limits CPUs now. */
static void find_cooling(const char *path, void *context)
{
	struct search *search = context;
	const struct throttle_domain *domain = search->domain;
	bool is_idle, is_lowered = domain->scaling_max_khz < domain->highest_khz;
	double state = 0, most = 0;
	char type[64];

	if (!sysfs_read_line(type, sizeof(type), "%s/type", path) ||
	    !sysfs_read_number(&state, "%s/cur_state", path) ||
	    !sysfs_read_number(&most, "%s/max_state", path) || state <= 0 ||
	    !cooling_limits_cpus(type, &is_idle) ||
	    (!is_idle && (!is_lowered || search->lowers_max)))
		return;
	search->lowers_max |= !is_idle;
	search->lowers |= is_idle;
	report(search, &(struct throttle){
			       .who = is_idle ? "idle-injection" : "thermal",
			       .name = strrchr(path, '/') + 1,
			       .kind = type,
			       .step = (uint32_t)state,
			       .steps = most > 0 ? (uint32_t)most : 0,
		       });
}

/* intel_pstate's limits for all CPUs. While it chooses itself, no file of a policy shows them. */
static void find_percent(struct search *search)
{
	const struct throttle_domain *domain = search->domain;
	double max = 100, min = 0, hardware = domain->highest_khz / 100.0;

	if (read_cpu_file(search, "intel_pstate/max_perf_pct", &max) && max < 100) {
		search->lowers_max = search->lowers = true;
		report(search,
		       &(struct throttle){ .who = "max-perf-pct", .percent = (uint32_t)max });
	}
	/* By default it is the lowest frequency, rounded. */
	if (read_cpu_file(search, "intel_pstate/min_perf_pct", &min) &&
	    min * hardware > domain->lowest_khz + hardware)
		report(search,
		       &(struct throttle){ .who = "min-perf-pct", .percent = (uint32_t)min });
}

/* The limits in the policy's files; the administrator's only if there is a request. */
static void find_requests(struct search *search)
{
	const struct throttle_domain *domain = search->domain;
	bool is_lowered = domain->scaling_max_khz < domain->highest_khz;

	if (domain->request_max_khz && domain->request_max_khz < domain->highest_khz)
		report(search,
		       &(struct throttle){ .who = "scaling-max", .khz = domain->request_max_khz });
	else if (is_lowered && !search->lowers_max)
		report(search,
		       &(struct throttle){ .who = "kernel-max", .khz = domain->scaling_max_khz });
	if (domain->request_min_khz > domain->lowest_khz)
		report(search,
		       &(struct throttle){ .who = "scaling-min", .khz = domain->request_min_khz });
}

static void find_turbo(struct search *search)
{
	char of_policy[48];
	const char *file;
	double value;
	bool is_on;

	snprintf(of_policy, sizeof(of_policy), "cpufreq/policy%u/boost", search->domain->first_cpu);
	file = sysfs_read_turbo(search->sys, &is_on);
	if (file && !is_on)
		report(search, &(struct throttle){ .who = "boost-off", .name = file });
	else if (read_cpu_file(search, of_policy, &value) && !value)
		report(search, &(struct throttle){ .who = "boost-off", .name = of_policy });
}

static uint32_t clamp_khz(uint32_t khz, const struct throttle_domain *domain)
{
	if (khz < domain->scaling_min_khz)
		khz = domain->scaling_min_khz;
	return khz > domain->scaling_max_khz ? domain->scaling_max_khz : khz;
}

/*
 * Compares the request, within the limits, with the present frequency. A difference up to 5 % is
 * within the measurement's error.
 */
static void find_driver(struct search *search)
{
	const struct throttle_domain *domain = search->domain;
	uint32_t min_khz = clamp_khz(domain->asked_min_khz, domain);
	uint32_t max_khz = clamp_khz(domain->asked_max_khz, domain);
	uint32_t now_khz = domain->current_khz;
	bool is_low = now_khz < min_khz - min_khz / 20;

	if (!domain->asked_max_khz || !now_khz || (is_low && search->lowers) ||
	    (!is_low && now_khz <= max_khz + max_khz / 20))
		return;
	report(search, &(struct throttle){ .who = "driver", .khz = is_low ? min_khz : max_khz });
}

int throttle_find(const char *sys, const struct throttle_domain *domain,
		  int (*emit)(void *context, const struct throttle *found), void *context)
{
	struct search search = { sys, domain, emit, context };
	char scheduler[SCHED_EXT_NAME_SIZE];

	find_firmware(&search);
	sysfs_each(find_cooling, &search, "%s/class/thermal/cooling_device*", sys);
	find_percent(&search);
	find_requests(&search);
	find_turbo(&search);
	if (sched_ext_has_all(sys, scheduler))
		report(&search, &(struct throttle){ .who = "sched-ext", .name = scheduler });
	find_driver(&search);
	return search.r;
}
