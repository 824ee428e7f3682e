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
