/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Who may switch: root, and whom polkit lets, by the action io.wakegov.switch-profile. */

#include <systemd/sd-bus.h>

/* Asks without a dialog. Returns 0, or a negative errno with error set. */
int authority_check(sd_bus_message *call, sd_bus_error *error);
