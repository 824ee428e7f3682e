// SPDX-License-Identifier: GPL-2.0-only
#include "desktop/desktop.h"

#include <string.h>

/* In the order of the interface. */
const struct desktop_profile desktop_profiles[DESKTOP_PROFILES] = {
	{ "power-saver", "quiet" },
	{ "balanced", "balanced" },
	{ "performance", "performance" },
};

const struct desktop_profile *desktop_find(const char *theirs)
{
	for (int i = 0; i < DESKTOP_PROFILES; i++)
		if (!strcmp(desktop_profiles[i].theirs, theirs))
			return &desktop_profiles[i];
	return NULL;
}

const char *desktop_active(const struct desktop *desktop)
{
	for (int i = 0; i < DESKTOP_PROFILES; i++)
		if (!strcmp(desktop_profiles[i].ours, desktop->active))
			return desktop_profiles[i].theirs;
	return "balanced";
}

const struct desktop_name desktop_names[DESKTOP_NAMES] = {
	{ "org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles" },
	{ "net.hadess.PowerProfiles", "/net/hadess/PowerProfiles" },
};

static void tell(struct desktop *desktop, const char *property)
{
	for (int i = 0; i < DESKTOP_NAMES; i++)
		sd_bus_emit_properties_changed(desktop->bus, desktop_names[i].path,
					       desktop_names[i].name, property, NULL);
}

void desktop_signal_active(struct desktop *desktop)
{
	tell(desktop, "ActiveProfile");
}

void desktop_signal_holds(struct desktop *desktop)
{
	tell(desktop, "ActiveProfileHolds");
}

void desktop_signal_released(struct desktop *desktop, const char *client, uint32_t cookie)
{
	for (int i = 0; client && i < DESKTOP_NAMES; i++) {
		sd_bus_message *signal = NULL;
		int r = sd_bus_message_new_signal(desktop->bus, &signal, desktop_names[i].path,
						  desktop_names[i].name, "ProfileReleased");

		if (r >= 0)
			r = sd_bus_message_append(signal, "u", cookie);
		if (r >= 0)
			sd_bus_send_to(desktop->bus, signal, client, NULL);
		sd_bus_message_unref(signal);
	}
}
