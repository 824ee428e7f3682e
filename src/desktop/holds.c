// SPDX-License-Identifier: GPL-2.0-only
/* Profiles that programs on the bus hold. */
#include "desktop/desktop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of several, the one that saves most power wins, as with power-profiles-daemon. */
static int hold_strongest(struct desktop *desktop)
{
	const char *ours = NULL;

	for (int i = 0; i < DESKTOP_PROFILES && !ours; i++)
		for (int j = 0; j < DESKTOP_HOLDS_MAX && !ours; j++)
			if (desktop->holds[j].cookie &&
			    !strcmp(desktop->holds[j].profile, desktop_profiles[i].theirs))
				ours = desktop_profiles[i].ours;
	return governor_hold(desktop, ours);
}

static void drop(struct desktop_hold *hold)
{
	sd_bus_track_unref(hold->client);
	free(hold->reason);
	free(hold->application);
	*hold = (struct desktop_hold){ 0 };
}

static int on_client_gone(sd_bus_track *track, void *userdata)
{
	struct desktop_hold *hold = userdata;
	struct desktop *desktop = hold->desktop;

	drop(hold);
	hold_strongest(desktop);
	desktop_signal_holds(desktop);
	return 0;
}

int holds_add(struct desktop *desktop, sd_bus_message *call, const char *profile,
	      const char *reason, const char *application, uint32_t *ret_cookie)
{
	struct desktop_hold *hold = desktop->holds;
	int r;

	while (hold < desktop->holds + DESKTOP_HOLDS_MAX && hold->cookie)
		hold++;
	if (hold == desktop->holds + DESKTOP_HOLDS_MAX)
		return -ENOSPC;
	*hold = (struct desktop_hold){
		.desktop = desktop,
		.cookie = ++desktop->last_cookie,
		.profile = desktop_find(profile)->theirs,
		.reason = strdup(reason),
		.application = strdup(application),
	};
	r = hold->reason && hold->application ? 0 : -ENOMEM;
	if (r == 0)
		r = sd_bus_track_new(desktop->bus, &hold->client, on_client_gone, hold);
	if (r >= 0)
		r = sd_bus_track_add_sender(hold->client, call);
	if (r < 0) {
		drop(hold);
		return r;
	}
	*ret_cookie = hold->cookie;
	r = hold_strongest(desktop);
	if (r < 0)
		drop(hold);
	else
		desktop_signal_holds(desktop);
	return r;
}

int holds_release(struct desktop *desktop, sd_bus_message *call, uint32_t cookie)
{
	for (int i = 0; i < DESKTOP_HOLDS_MAX; i++) {
		struct desktop_hold *hold = &desktop->holds[i];

		if (!cookie || hold->cookie != cookie ||
		    !sd_bus_track_contains(hold->client, sd_bus_message_get_sender(call)))
			continue;
		drop(hold);
		hold_strongest(desktop);
		desktop_signal_holds(desktop);
		return 0;
	}
	return -ENOENT;
}

void holds_end(struct desktop *desktop)
{
	for (int i = 0; i < DESKTOP_HOLDS_MAX; i++) {
		struct desktop_hold *hold = &desktop->holds[i];

		if (!hold->cookie)
			continue;
		desktop_signal_released(desktop, sd_bus_track_first(hold->client), hold->cookie);
		drop(hold);
	}
	if (desktop->hold_fd >= 0)
		hold_strongest(desktop);
	desktop_signal_holds(desktop);
}
