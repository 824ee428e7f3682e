/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdbool.h>

/*
 * Whether the machine runs on a battery, by the rule of systemd's ConditionACPower=: no supply that
 * is no battery is online, and a battery discharges. Supplies of other devices, such as mice and
 * tablets, do not count, and neither does a USB-C port that supplies another device.
 */
bool power_source_is_battery(void);
