/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What outlasts the daemon: the decisions of a week (daemon/archive.h) and what was counted of its
 * days (daemon/stats_file.h), in the directory that systemd gives (StateDirectory=), unless the
 * policy says no (history). What cannot be kept is said once, and wakegov governs on without.
 */

#include <stdbool.h>
#include <stdint.h>

struct decision;
struct manager;

/* After the core is made: what there is of the last days is added to what will be counted. */
void past_start(struct manager *manager);
/* Writes what is left. */
void past_stop(struct manager *manager);

/* A decision that changed a target, with the names in it. */
void past_add(struct manager *manager, const struct decision *decision, uint32_t read_back_khz);
/* At the end of a round. still: nothing else is left to do. */
void past_keep(struct manager *manager, uint64_t now_ns, bool still);
/*
 * When a round is due for what was counted to be saved; UINT64_MAX: no target was changed since.
 * Once only, so that an idle machine is not woken again and again to save that it is idle.
 */
uint64_t past_next_ns(const struct manager *manager);
