/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The machine's own means to limit frequencies, as its files show them now: turbo, energy
 * preference, platform profile, temperature, throttling and power.
 */

#include <jansson.h>

/*
 * An array of objects with name and text, in the order to show them; what the machine does not have
 * is left out. sys is the path of /sys. Takes a tenth of a second where power is counted.
 */
json_t *machine_find(const char *sys);
