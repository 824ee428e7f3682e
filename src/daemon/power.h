/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Where the machine has its power from. */

#include <stdbool.h>

/*
 * Whether it runs on a battery, as below /sys/class/power_supply: no line is online, and there is
 * one or a battery is discharging. What has neither, and batteries of mice and the like, are not
 * counted, as systemd's ConditionACPower= does it.
 */
bool power_is_battery(void);

/* A socket for the event loop; EPOLLIN: the above may have changed. Negative errno on failure. */
int power_open(void);

/* Reads what has come. Returns whether it is about a power supply. */
bool power_read(int fd);
