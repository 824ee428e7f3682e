// SPDX-License-Identifier: GPL-2.0-only
#include "core/decision.h"

#include <stdlib.h>

#include "shared/cleanup.h"

const char *reason_name(enum reason reason)
{
	static const char *const names[] = {
		[REASON_IDLE] = "idle",		[REASON_UTILISATION] = "utilisation",
		[REASON_IO_BOOST] = "io-boost", [REASON_FLOOR] = "floor",
		[REASON_UNCAPPED] = "uncapped", [REASON_OWN_FLOOR] = "own-floor",
		[REASON_CHAIN] = "chain",
	};

	_Static_assert(ARRAY_SIZE(names) == REASON_LAST + 1, "each has a name");
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
		[LIMITER_CAP] = "cap",
		[LIMITER_OWN_CAP] = "own-cap",
	};

	_Static_assert(ARRAY_SIZE(names) == LIMITER_LAST + 1, "each has a name");
	return names[limiter];
}

const char *timing_name(enum timing timing)
{
	static const char *const names[] = {
		[TIMING_NOW] = "now",
		[TIMING_HELD] = "held",
		[TIMING_RATE_LIMITED] = "rate-limited",
	};

	_Static_assert(ARRAY_SIZE(names) == TIMING_RATE_LIMITED + 1, "each has a name");
	return names[timing];
}

void explanation_note(struct explanation *explanation, const struct contender *contender)
{
	uint32_t n = explanation->n_contenders, i;

	if (!contender->cap)
		return;
	explanation->n_contenders++;
	if (n > EXPLANATION_CONTENDERS_MAX)
		n = EXPLANATION_CONTENDERS_MAX;
	/* Equals keep their order, as in the merge. */
	for (i = n; i > 0 && explanation->contenders[i - 1].cap < contender->cap; i--)
		if (i < EXPLANATION_CONTENDERS_MAX)
			explanation->contenders[i] = explanation->contenders[i - 1];
	if (i < EXPLANATION_CONTENDERS_MAX)
		explanation->contenders[i] = *contender;
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
		      uint32_t read_back_khz, const struct explanation *explanation)
{
	log->entries[log->total++ % log->size] = (struct decision_entry){
		.decision = *decision,
		.read_back_khz = read_back_khz,
		.explanation = *explanation,
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

const struct decision_entry *decision_log_find(const struct decision_log *log, uint32_t domain,
					       uint64_t at_ns)
{
	const struct decision_entry *entry, *found = NULL;

	for (uint32_t i = 0; (entry = decision_log_at(log, i)); i++)
		if (entry->decision.domain == domain && entry->decision.now_ns <= at_ns)
			found = entry;
	return found;
}
