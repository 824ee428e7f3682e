/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The interface itself, under its present name, org.freedesktop.UPower.PowerProfiles, and its
 * former one, net.hadess.PowerProfiles. If another program, such as power-profiles-daemon, owns a
 * name, its choice is followed, and the name is taken when it goes.
 */

#include "desktop/desktop.h"

/* Returns 0 or a negative errno, logged. */
int bus_start(struct desktop *desktop);
