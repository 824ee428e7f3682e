/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Profiles that programs on the bus hold, for as long as they are there. */

#include "desktop/desktop.h"

/*
 * Holds a profile, by its name on the bus, for the sender of the call. Returns 0 and *ret_cookie;
 * -ENOSPC: there are as many as there can be; or another negative errno.
 */
int holds_add(struct desktop *desktop, sd_bus_message *call, const char *profile,
	      const char *reason, const char *application, uint32_t *ret_cookie);

/* -ENOENT: the sender has none of that number. */
int holds_release(struct desktop *desktop, sd_bus_message *call, uint32_t cookie);

/* For another choice of profile: ends all holds, and informs their owners. */
void holds_end(struct desktop *desktop);
