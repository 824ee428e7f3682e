/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The interface itself, under the name that it has, org.freedesktop.UPower.PowerProfiles, and the
 * one that it had, net.hadess.PowerProfiles. Where somebody else has a name, as
 * power-profiles-daemon does, it is left to him, his choice is followed, and the name is taken when
 * he goes.
 */

#include "desktop/desktop.h"

/* Returns 0 or a negative errno, logged. */
int bus_start(struct desktop *desktop);
