/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdint.h>

/*
 * Call it before a limit of policyN is widened. Under schedutil it takes 2 ms, and 10 ms at most
 * where the CPUs are busy; under another governor it does nothing.
 *
 * A limit that is narrowed moves the domain at once where the driver cannot switch from within the
 * scheduler (sugov_limits()). What schedutil asked for last stays as it was until it is called
 * again, which takes a task that runs in the domain, and it asks the driver for nothing that equals
 * it (sugov_update_next_freq()). So a ceiling that comes and goes while a domain is idle would
 * leave it there for as long as the load needs what it needed before. A thread that runs in the
 * domain while the limit holds prevents that.
 */
void schedutil_note_limits(uint32_t policy);
