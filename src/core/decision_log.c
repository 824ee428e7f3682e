// SPDX-License-Identifier: GPL-2.0-only
#include "core/decision_log.h"

#include <stdlib.h>

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
