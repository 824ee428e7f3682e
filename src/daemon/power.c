// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/power.h"

#include <errno.h>
#include <string.h>

#include "shared/sysfs.h"
#include "shared/uevent.h"

struct supplies {
	bool has_line;
	bool line_online;
	bool discharging;
};

static bool says(const char *supply, const char *file, const char *word)
{
	char line[32];

	return sysfs_read_line(line, sizeof(line), "%s/%s", supply, file) && !strcmp(line, word);
}

static void look_at_line(const char *supply, void *context)
{
	struct supplies *supplies = context;
	bool is_mains = says(supply, "type", "Mains");

	supplies->has_line |= is_mains;
	if (is_mains || says(supply, "type", "USB"))
		supplies->line_online |= says(supply, "online", "1");
}

/* Looks at a battery, unless it belongs to a mouse or the like. */
static void look_at_battery(const char *supply, void *context)
{
	struct supplies *supplies = context;

	if (says(supply, "type", "Battery") && !says(supply, "scope", "Device"))
		supplies->discharging |= says(supply, "status", "Discharging");
}

/* Batteries are read only if they decide: a controller may take tens of milliseconds. */
bool power_is_battery(void)
{
	struct supplies supplies = { 0 };

	sysfs_each(look_at_line, &supplies, "/sys/class/power_supply/*");
	if (!supplies.line_online && !supplies.has_line)
		sysfs_each(look_at_battery, &supplies, "/sys/class/power_supply/*");
	return !supplies.line_online && (supplies.has_line || supplies.discharging);
}

int power_open(void)
{
	return uevent_open(UEVENT_CHANGE, UEVENT_ADD);
}

bool power_read(int fd)
{
	char text[UEVENT_SIZE];
	bool is_power = false;
	ssize_t n;

	while ((n = uevent_read(fd, text)) > 0)
		is_power |= memmem(text, (size_t)n, "SUBSYSTEM=power_supply", 23) != NULL;
	return is_power || n == -ENOBUFS;
}
