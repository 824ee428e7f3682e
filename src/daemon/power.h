/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Whether the machine runs on a battery. */

#include <stdbool.h>

/*
 * Whether the machine runs on a battery, by /sys/class/power_supply: no line is online, and there
 * is one or a battery is discharging. A machine with neither does not, and batteries of mice and
 * the like do not count, as for systemd's ConditionACPower=.
 */
bool power_is_battery(void);

/*
 * Opens a socket for the event loop; EPOLLIN: the above may have changed. Returns a negative errno
 * on failure.
 */
int power_open(void);

/* Reads an event. Returns whether it is about a power supply. */
bool power_read(int fd);
