// SPDX-License-Identifier: GPL-2.0-only
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

#include "shared/cleanup.h"
#include "shared/sysfs.h"

/* The broker answers by itself; a hanging one must not block the daemon. */
#define BUS_TIMEOUT_US 200000

#define COMM_SIZE      16 /* of the kernel, with the NUL */

/* A program is found by any of the three; NULL: not in this way. */
struct trace {
	struct conflict conflict;
	const char *bus_name;
	const char *program;
	const char *path;
};

static const struct trace traces[] = {
	{ { "power-profiles-daemon", "the energy preference, and the platform's profile",
	    "both can run, as long as the policy sets no energy-preference" },
	  NULL,
	  "power-profiles-daemon",
	  NULL },
	{ { "TuneD", "governors, limits and the energy preference",
	    "take a profile without a [cpu] section, or stop it: systemctl disable --now tuned" },
	  "com.redhat.tuned",
	  "tuned",
	  NULL },
	{ { "tuned-ppd", "TuneD's profile, as the desktop's switch says",
	    "keep it with TuneD's profiles without a [cpu] section; wakegov's profile follows the "
	    "switch: systemctl enable --now wakegov-desktop" },
	  NULL,
	  "tuned-ppd",
	  NULL },
	{ { "TLP", "governors, limits and the energy preference, when the power source changes",
	    "unset CPU_SCALING_* and CPU_ENERGY_PERF_POLICY_* in /etc/tlp.conf" },
	  NULL,
	  NULL,
	  "/run/tlp/last_pwr" },
	{ { "tlp-pd", "TLP's profile, as the desktop's switch says",
	    "keep it, as TLP; wakegov's profile follows the switch: systemctl enable --now "
	    "wakegov-desktop" },
	  NULL,
	  "tlp-pd",
	  NULL },
	{ { "auto-cpufreq", "governors and limits, every few seconds",
	    "stop it: systemctl disable --now auto-cpufreq; both want the same thing" },
	  NULL,
	  "auto-cpufreq",
	  NULL },
	{ { "thermald", "scaling_max_freq and the platform's power limits, when it is hot",
	    "both can run: its limits are obeyed" },
	  "org.freedesktop.thermald",
	  "thermald",
	  NULL },
	{ { "gamemode", "governors, while a game runs",
	    "set desiredgov and igpu_desiredgov in gamemode.ini to the governor that wakegov needs: "
	    "schedutil with backend uclamp, userspace with setspeed" },
	  NULL,
	  "gamemoded",
	  NULL },
	{ { "intel_lpmd", "the energy preference, and the CPUs that tasks may run on",
	    "set EPP_EPB to -1 in its configuration, or stop it: systemctl disable --now "
	    "intel_lpmd" },
	  "org.freedesktop.intel_lpmd",
	  "intel_lpmd",
	  NULL },
	{ { "asusd", "the energy preference, with the platform's profile",
	    "both can run, as long as the policy sets no energy-preference" },
	  "xyz.ljones.Asusd",
	  "asusd",
	  NULL },
	{ { "system76-power", "governors, limits and the energy preference",
	    "stop it: systemctl disable --now com.system76.PowerDaemon" },
	  "com.system76.PowerDaemon",
	  "system76-power",
	  NULL },
	{ { "schedqos", "utilisation clamps of tasks",
	    "keep the tasks of rules and hints out of its configuration, or stop it: the later one "
	    "of two clamps holds" },
	  NULL,
	  "schedqos",
	  NULL },
};

/* Of the names that the programs share for the desktop's switch. */
static const struct conflict other_switch = {
	"another owner of PowerProfiles", "what the desktop's switch chooses",
	"see who owns it: busctl status org.freedesktop.UPower.PowerProfiles"
};

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

	if (!bus || !name)
		return 0;
	if (sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
			       "org.freedesktop.DBus", "GetConnectionUnixProcessID", NULL, &reply,
			       "s", name) >= 0)
		sd_bus_message_read(reply, "u", &pid);
	sd_bus_message_unref(reply);
	return pid;
}

/*
 * The name by which a process was started: its comm, which is cut; a script's is its own, and
 * NixOS's wrapper adds a dot before it. Its command line is not read: that waits where the
 * process's memory is locked.
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

/* A program that is known is found by itself. */
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

void conflicts_find(void (*found)(void *userdata, const struct conflict *conflict), void *userdata)
{
	_cleanup_(bus_unrefp) sd_bus *bus = NULL;
	uint32_t processes = find_processes();

	if (sd_bus_open_system(&bus) >= 0)
		sd_bus_set_method_call_timeout(bus, BUS_TIMEOUT_US);
	for (size_t i = 0; i < ARRAY_SIZE(traces); i++) {
		const struct trace *trace = &traces[i];

		if (processes & (1u << i) || owner_of(bus, trace->bus_name) ||
		    (trace->path && access(trace->path, F_OK) == 0))
			found(userdata, &trace->conflict);
	}
	if (has_other_switch(bus))
		found(userdata, &other_switch);
}

struct search {
	const char *sys;
	const struct throttle_domain *domain;
	int (*emit)(void *context, const char *who, const char *text);
	void *context;
};

static int report(const struct search *search, const char *who, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int report(const struct search *search, const char *who, const char *format, ...)
{
	char text[LIMITER_TEXT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return search->emit(search->context, who, text);
}

/*
 * Reports the first cooling device that slows CPUs now: drivers call theirs Processor or
 * cpufreq-cpuN. Returns 1 when there was one, 0, or the result of emit.
 */
static int find_cooling(const struct search *search)
{
	char path[SYSFS_PATH_SIZE], type[64];
	_cleanup_closedir_ DIR *directory = NULL;
	const struct dirent *entry;
	double state, most;

	snprintf(path, sizeof(path), "%s/class/thermal", search->sys);
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		const char *name = entry->d_name;

		if (strncmp(name, "cooling_device", 14) != 0 ||
		    !sysfs_read_line(type, sizeof(type), "%s/%s/type", path, name) ||
		    (strcmp(type, "Processor") != 0 && !strstr(type, "cpufreq")) ||
		    !sysfs_read_number(&state, "%s/%s/cur_state", path, name) ||
		    !sysfs_read_number(&most, "%s/%s/max_state", path, name) || !state)
			continue;
		return report(search, "thermal",
			      "heat: %s is at step %.0f of %.0f; see /sys/class/thermal for the "
			      "temperature",
			      name, state, most)
			       ?: 1;
	}
	return 0;
}

/* Reports the first known reason for a lowered scaling_max_freq; else another program wrote it. */
static int find_maximum(const struct search *search)
{
	const struct throttle_domain *domain = search->domain;
	double bios_khz;
	int r;

	if (domain->scaling_max_khz >= domain->highest_khz)
		return 0;
	if (sysfs_read_number(&bios_khz, "%s/devices/system/cpu/cpu%u/cpufreq/bios_limit",
			      search->sys, domain->first_cpu) &&
	    bios_khz <= domain->scaling_max_khz)
		return report(
			search, "firmware",
			"the firmware allows %.0f MHz at most (bios_limit): see its power and "
			"thermal settings",
			bios_khz / 1000);
	r = find_cooling(search);
	if (r)
		return r < 0 ? r : 0;
	return report(search, "scaling-max",
		      "scaling_max_freq of policy%u is %u MHz, of %u MHz that there are: the "
		      "administrator or another program lowered it; raise it there to undo that",
		      domain->first_cpu, domain->scaling_max_khz / 1000,
		      domain->highest_khz / 1000);
}

static uint32_t clamp_khz(uint32_t khz, const struct throttle_domain *domain)
{
	if (khz < domain->scaling_min_khz)
		khz = domain->scaling_min_khz;
	return khz > domain->scaling_max_khz ? domain->scaling_max_khz : khz;
}

/*
 * Compares the request, within the limits, with the present frequency: up to 5 % is within the
 * measurement's error.
 */
static int find_driver(const struct search *search)
{
	const struct throttle_domain *domain = search->domain;
	uint32_t min_khz = clamp_khz(domain->asked_min_khz, domain);
	uint32_t max_khz = clamp_khz(domain->asked_max_khz, domain);
	uint32_t now_khz = domain->current_khz;
	bool is_low = now_khz < min_khz - min_khz / 20;

	if (!domain->asked_max_khz || !now_khz || (!is_low && now_khz <= max_khz + max_khz / 20))
		return 0;
	return report(search, "driver",
		      "the driver reports %u MHz where %u MHz were asked for: the hardware decides "
		      "otherwise (power or temperature), or has not got there yet",
		      now_khz / 1000, (is_low ? min_khz : max_khz) / 1000);
}

int throttle_find(const char *sys, const struct throttle_domain *domain,
		  int (*emit)(void *context, const char *who, const char *text), void *context)
{
	const struct search search = { sys, domain, emit, context };
	int r = find_maximum(&search);
	double value;

	if (r)
		return r;
	if (domain->scaling_min_khz > domain->lowest_khz)
		r = report(&search, "scaling-min",
			   "scaling_min_freq of policy%u is %u MHz: the administrator or another "
			   "program raised it; lower it there to undo that",
			   domain->first_cpu, domain->scaling_min_khz / 1000);
	if (r)
		return r;
	if (sysfs_read_number(&value, "%s/devices/system/cpu/cpufreq/boost", sys) && !value)
		r = report(&search, "boost-off",
			   "turbo is switched off for the machine (cpufreq/boost is 0)");
	else if (sysfs_read_number(&value, "%s/devices/system/cpu/intel_pstate/no_turbo", sys) &&
		 value)
		r = report(&search, "boost-off",
			   "turbo is switched off for the machine (intel_pstate/no_turbo is 1)");
	return r ? r : find_driver(&search);
}
