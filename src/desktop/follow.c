// SPDX-License-Identifier: GPL-2.0-only
/* Follows the choices of another program that owns a name: TuneD, power-profiles-daemon. */
#include <string.h>

#include "desktop/desktop.h"
#include "shared/log.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"

static void choose(struct desktop *desktop, const char *theirs)
{
	const struct desktop_profile *profile = desktop_find(theirs);

	if (profile)
		governor_choose(desktop, profile->ours);
}

static int on_change(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
	struct desktop_follow *follow = userdata;
	const char *whose, *property, *value;

	/* Any program may send a signal to this one alone, whatever matches it has. */
	if (!follow->owner[0] || !bus_is_from(signal, follow->owner) ||
	    sd_bus_message_read(signal, "s", &whose) < 0 ||
	    sd_bus_message_enter_container(signal, 'a', "{sv}") < 0)
		return 0;
	while (sd_bus_message_enter_container(signal, 'e', "sv") > 0) {
		if (sd_bus_message_read(signal, "s", &property) < 0)
			return 0;
		if (!strcmp(property, "ActiveProfile") &&
		    sd_bus_message_read(signal, "v", "s", &value) >= 0)
			choose(follow->desktop, value);
		else
			sd_bus_message_skip(signal, "v");
		sd_bus_message_exit_container(signal);
	}
	return 0;
}

static int on_active(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	struct desktop_follow *follow = userdata;
	const char *value;

	if (bus_is_from(reply, follow->owner) && !sd_bus_message_is_method_error(reply, NULL) &&
	    sd_bus_message_read(reply, "v", "s", &value) >= 0)
		choose(follow->desktop, value);
	return 0;
}

/* The name has this program as its owner in the end: it is queued. */
static void on_owner(void *userdata, const char *owner)
{
	struct desktop_follow *follow = userdata;
	struct desktop *desktop = follow->desktop;
	const struct desktop_name *name = follow->name;
	const char *own;

	if (sd_bus_get_unique_name(desktop->bus, &own) < 0 || !strcmp(owner, own))
		owner = "";
	if (!strcmp(owner, follow->owner) || strlen(owner) >= sizeof(follow->owner))
		return;
	strcpy(follow->owner, owner);
	if (!owner[0])
		return;
	log_info("another program owns %s: its choices are followed", name->name);
	sd_bus_call_method_async(desktop->bus, NULL, owner, name->path, PROPERTIES, "Get",
				 on_active, follow, "ss", name->name, "ActiveProfile");
}

int follow_start(struct desktop *desktop)
{
	int r = 0;

	for (int i = 0; r >= 0 && i < DESKTOP_NAMES; i++) {
		struct desktop_follow *follow = &desktop->follows[i];
		const struct desktop_name *name = &desktop_names[i];

		*follow = (struct desktop_follow){
			.desktop = desktop,
			.name = name,
			.watch = { .changed = on_owner, .userdata = follow },
		};
		r = sd_bus_match_signal_async(desktop->bus, NULL, name->name, name->path,
					      PROPERTIES, "PropertiesChanged", on_change, NULL,
					      follow);
		if (r >= 0)
			r = bus_watch_start(&follow->watch, desktop->bus, name->name);
	}
	return r < 0 ? r : 0;
}

void follow_end(struct desktop *desktop)
{
	for (int i = 0; i < DESKTOP_NAMES; i++)
		bus_watch_end(&desktop->follows[i].watch);
}
