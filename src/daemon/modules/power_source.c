// SPDX-License-Identifier: GPL-2.0-only
/* Whether the machine runs on battery, by the power supplies in /sys. */
#include "daemon/modules/policy.h"

#include <stddef.h>
#include <string.h>

#include "shared/sysfs.h"

#define SUPPLIES "/sys/class/power_supply/*"

struct roles {
	bool source, sink;
};

/* "[source] sink" */
static void add_role(const char *path, void *context)
{
	struct roles *roles = context;
	char line[32];

	if (!sysfs_read_line(line, sizeof(line), "%s", path))
		return;
	roles->source |= strstr(line, "[source]") != NULL;
	roles->sink |= strstr(line, "[sink]") != NULL;
}

/*
 * online is 1 on fixed voltage, and 2 on one that the machine may set (USB-PD). A controller of
 * USB-C ports says it also while its ports supply others.
 */
static void check_online(const char *supply, void *context)
{
	struct roles roles = { 0 };
	bool *is_online = context;
	double online;

	if (*is_online || sysfs_matches("Battery", "%s/type", supply) ||
	    sysfs_matches("Device", "%s/scope", supply) ||
	    !sysfs_read_number(&online, "%s/online", supply) || online < 1)
		return;
	sysfs_each(add_role, &roles, "%s/device/typec/port*/power_role", supply);
	*is_online = !sysfs_matches("USB", "%s/type", supply) || !roles.source || roles.sink;
}

static void check_discharging(const char *supply, void *context)
{
	bool *discharges = context;

	*discharges |= sysfs_is_battery(supply) &&
		       sysfs_matches("Discharging", "%s/status", supply);
}

/* Batteries are read only if they decide: a controller may take tens of milliseconds. */
bool power_source_is_battery(void)
{
	bool is_online = false, discharges = false;

	sysfs_each(check_online, &is_online, SUPPLIES);
	if (!is_online)
		sysfs_each(check_discharging, &discharges, SUPPLIES);
	return discharges;
}
