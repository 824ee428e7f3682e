// SPDX-License-Identifier: GPL-2.0-only
#include "core/decision.h"

#include <stdlib.h>

const char *reason_name(enum reason reason)
{
	static const char *const names[] = {
		[REASON_IDLE] = "idle",
		[REASON_UTILISATION] = "utilisation",
		[REASON_IO_BOOST] = "io-boost",
		[REASON_INTERRUPT] = "io-interrupt",
	};

	return names[reason];
}

const char *limiter_name(enum limiter limiter)
{
	static const char *const names[] = {
		[LIMITER_NONE] = "none",
		[LIMITER_POLICY_MIN] = "policy-min",
		[LIMITER_POLICY_MAX] = "policy-max",
		[LIMITER_SCALING_MIN] = "scaling-min",
		[LIMITER_SCALING_MAX] = "scaling-max",
		[LIMITER_OVERRIDE_MIN] = "override-min",
		[LIMITER_OVERRIDE_MAX] = "override-max",
		[LIMITER_FROZEN] = "frozen",
	};

	return names[limiter];
}

const char *timing_name(enum timing timing)
{
	static const char *const names[] = {
		[TIMING_NOW] = "now",
		[TIMING_HELD] = "held",
		[TIMING_RATE_LIMITED] = "rate-limited",
	};

	return names[timing];
}

struct decision_log {
	uint64_t total;
	uint32_t size;
	struct decision_entry entries[];
};

struct decision_log *decision_log_new(uint32_t size)
{
	struct decision_log *log = calloc(1, sizeof(*log) + size * sizeof(log->entries[0]));

	if (log)
		log->size = size;
	return log;
}

struct decision_log *decision_log_free(struct decision_log *log)
{
	free(log);
	return NULL;
}

void decision_log_add(struct decision_log *log, const struct decision *decision,
		      uint32_t read_back_khz)
{
	log->entries[log->total++ % log->size] = (struct decision_entry){
		.decision = *decision,
		.read_back_khz = read_back_khz,
	};
}

uint64_t decision_log_total(const struct decision_log *log)
{
	return log->total;
}

const struct decision_entry *decision_log_at(const struct decision_log *log, uint32_t i)
{
	uint64_t first = log->total > log->size ? log->total - log->size : 0;

	if (first + i >= log->total)
		return NULL;
	return &log->entries[(first + i) % log->size];
}
