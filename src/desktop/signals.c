// SPDX-License-Identifier: GPL-2.0-only
#include "desktop/signals.h"

const struct signals_name signals_names[SIGNALS_NAMES] = {
	{ "org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles" },
	{ "net.hadess.PowerProfiles", "/net/hadess/PowerProfiles" },
};

static void tell(struct desktop *desktop, const char *property)
{
	for (int i = 0; i < SIGNALS_NAMES; i++)
		sd_bus_emit_properties_changed(desktop->bus, signals_names[i].path,
					       signals_names[i].name, property, NULL);
}

void signals_active(struct desktop *desktop)
{
	tell(desktop, "ActiveProfile");
}

void signals_holds(struct desktop *desktop)
{
	tell(desktop, "ActiveProfileHolds");
}

void signals_released(struct desktop *desktop, const char *client, uint32_t cookie)
{
	for (int i = 0; client && i < SIGNALS_NAMES; i++) {
		sd_bus_message *signal = NULL;
		int r = sd_bus_message_new_signal(desktop->bus, &signal, signals_names[i].path,
						  signals_names[i].name, "ProfileReleased");

		if (r >= 0)
			r = sd_bus_message_append(signal, "u", cookie);
		if (r >= 0)
			sd_bus_send_to(desktop->bus, signal, client, NULL);
		sd_bus_message_unref(signal);
	}
}
