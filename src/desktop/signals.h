/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The two names of the interface, and the D-Bus signals that are sent under both. */

#include "desktop/desktop.h"

#define SIGNALS_NAMES 2
extern const struct signals_name {
	const char *name; /* of the interface as well */
	const char *path;
} signals_names[SIGNALS_NAMES];

void signals_active(struct desktop *desktop);
void signals_holds(struct desktop *desktop);
/* To one client. */
void signals_released(struct desktop *desktop, const char *client, uint32_t cookie);
