/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "core/decision.h"
#include "core/explanation.h"

/*
 * The last decisions that changed a target; the oldest is overwritten first. The caller that wrote
 * the target fills in read_back_khz.
 */
struct decision_log;

struct decision_entry {
	struct decision decision;
	uint32_t read_back_khz;
	struct explanation explanation;
};

/* size entries, allocated once; NULL without memory. */
struct decision_log *decision_log_new(uint32_t size);
struct decision_log *decision_log_free(struct decision_log *log);
void decision_log_add(struct decision_log *log, const struct decision *decision,
		      uint32_t read_back_khz, const struct explanation *explanation);
/* The last decision for the domain at or before at_ns, or NULL. */
const struct decision_entry *decision_log_find(const struct decision_log *log, uint32_t domain,
					       uint64_t at_ns);
uint64_t decision_log_total(const struct decision_log *log);
/* The i-th oldest decision, or NULL past the newest. Borrowed until the next add. */
const struct decision_entry *decision_log_at(const struct decision_log *log, uint32_t i);
