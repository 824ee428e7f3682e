/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Keeps what outlasts the daemon: the decisions of a week (daemon/archive.h) and the counts of its
 * days (daemon/stats_file.h), in systemd's StateDirectory=, unless the policy's `history` forbids
 * it. A failure is logged once, and wakegov goes on without.
 */

#include <stdbool.h>
#include <stdint.h>

struct decision;
struct manager;

/* Call this after the engine was made: adds the counts of the last days to the present ones. */
void past_start(struct manager *manager);
/* Writes unwritten entries and counts. */
void past_stop(struct manager *manager);

/* Takes a decision that changed a target, with the names in it. */
void past_add(struct manager *manager, const struct decision *decision, uint32_t read_back_khz);
/* Call this at the end of a round. still: nothing is left to do. */
void past_keep(struct manager *manager, uint64_t now_ns, bool still);
/*
 * When a round is due to save the counts; UINT64_MAX: no target has changed since they were saved.
 * An idle machine is woken once only.
 */
uint64_t past_next_ns(const struct manager *manager);
