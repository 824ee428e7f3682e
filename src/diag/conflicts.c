// SPDX-License-Identifier: GPL-2.0-only
#include "diag/conflicts.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/sysfs.h"

/* The broker answers by itself; a hanging one must not block the daemon. */
#define BUS_TIMEOUT_US 200000

#define COMM_SIZE      32

/* A program is found by any of the three; NULL: not in this way. */
struct trace {
	struct rival rival;
	const char *bus_names[2];
	const char *comm; /* of its process, cut by the kernel to 15 characters */
	const char *path;
};

static const struct trace traces[] = {
	{ { "power-profiles-daemon", "the energy preference, and the platform's profile",
	    "both can run, as long as the policy sets no energy-preference" },
	  { "net.hadess.PowerProfiles", "org.freedesktop.UPower.PowerProfiles" },
	  "power-profiles-",
	  NULL },
	{ { "TuneD", "governors, limits and the energy preference",
	    "take a profile without a [cpu] section, or stop it: systemctl disable --now tuned" },
	  { "com.redhat.tuned", NULL },
	  "tuned",
	  NULL },
	{ { "TLP", "governors, limits and the energy preference, when the power source changes",
	    "unset CPU_SCALING_* and CPU_ENERGY_PERF_POLICY_* in /etc/tlp.conf" },
	  { NULL, NULL },
	  NULL,
	  "/run/tlp/last_pwr" },
	{ { "auto-cpufreq", "governors and limits, every few seconds",
	    "stop it: systemctl disable --now auto-cpufreq; both want the same thing" },
	  { NULL, NULL },
	  "auto-cpufreq",
	  NULL },
	{ { "thermald", "scaling_max_freq and the platform's power limits, when it is hot",
	    "both can run: its limits are obeyed" },
	  { "org.freedesktop.thermald", NULL },
	  "thermald",
	  NULL },
	{ { "gamemode", "governors, while a game runs",
	    "set desiredgov and defaultgov to nothing in gamemode.ini" },
	  { NULL, NULL },
	  "gamemoded",
	  NULL },
};

_Static_assert(ARRAY_SIZE(traces) <= RIVALS_MAX, "raise RIVALS_MAX");

static void bus_unrefp(sd_bus **bus)
{
	sd_bus_flush_close_unref(*bus);
}

static bool owns_name(sd_bus *bus, const char *name)
{
	sd_bus_message *reply = NULL;
	int owned = 0;

	if (!bus || !name)
		return false;
	if (sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
			       "org.freedesktop.DBus", "NameHasOwner", NULL, &reply, "s",
			       name) >= 0)
		sd_bus_message_read(reply, "b", &owned);
	sd_bus_message_unref(reply);
	return owned;
}

/* Bits: 1 << index into traces. */
static uint32_t find_processes(void)
{
	_cleanup_closedir_ DIR *processes = opendir("/proc");
	const struct dirent *entry;
	char comm[COMM_SIZE];
	uint32_t found = 0;

	while (processes && (entry = readdir(processes))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !sysfs_read_line(comm, sizeof(comm), "/proc/%s/comm", entry->d_name))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(traces); i++)
			if (traces[i].comm && strcmp(comm, traces[i].comm) == 0)
				found |= 1u << i;
	}
	return found;
}

void rivals_find(void (*found)(void *userdata, const struct rival *rival), void *userdata)
{
	_cleanup_(bus_unrefp) sd_bus *bus = NULL;
	uint32_t processes = find_processes();

	if (sd_bus_open_system(&bus) >= 0)
		sd_bus_set_method_call_timeout(bus, BUS_TIMEOUT_US);
	for (size_t i = 0; i < ARRAY_SIZE(traces); i++) {
		const struct trace *trace = &traces[i];

		if (processes & (1u << i) || owns_name(bus, trace->bus_names[0]) ||
		    owns_name(bus, trace->bus_names[1]) ||
		    (trace->path && access(trace->path, F_OK) == 0))
			found(userdata, &trace->rival);
	}
}
