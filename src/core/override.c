// SPDX-License-Identifier: GPL-2.0-only
#include "core/override.h"

#include <stddef.h>
#include <string.h>

/* The index of the id, or the index for its insertion. */
static uint32_t place_of(const struct override_table *table, uint32_t id)
{
	uint32_t i = 0;

	while (i < table->n && table->entries[i].id < id)
		i++;
	return i;
}

static void remove_at(struct override_table *table, uint32_t i)
{
	table->n--;
	memmove(&table->entries[i], &table->entries[i + 1],
		(table->n - i) * sizeof(table->entries[0]));
}

bool override_table_put(struct override_table *table, const struct input_override *override,
			uint64_t now_ns)
{
	uint32_t i = place_of(table, override->id);
	bool is_known = i < table->n && table->entries[i].id == override->id;

	if (override->end_ns <= now_ns) {
		if (is_known)
			remove_at(table, i);
		return true;
	}
	if (!is_known && table->n == OVERRIDES_MAX)
		return false;
	if (!is_known) {
		memmove(&table->entries[i + 1], &table->entries[i],
			(table->n - i) * sizeof(table->entries[0]));
		table->n++;
	}
	table->entries[i] = *override;
	return true;
}

bool override_table_expire(struct override_table *table, uint64_t now_ns,
			   struct input_override *ret)
{
	for (uint32_t i = 0; i < table->n; i++) {
		if (now_ns < table->entries[i].end_ns)
			continue;
		*ret = table->entries[i];
		remove_at(table, i);
		return true;
	}
	return false;
}

const struct input_override *override_table_find(const struct override_table *table, uint32_t id)
{
	uint32_t i = place_of(table, id);

	return i < table->n && table->entries[i].id == id ? &table->entries[i] : NULL;
}

uint64_t override_table_next_ns(const struct override_table *table)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < table->n; i++)
		if (table->entries[i].end_ns < next_ns)
			next_ns = table->entries[i].end_ns;
	return next_ns;
}

void override_table_merge(const struct override_table *table, uint32_t domain,
			  struct override_limits *ret)
{
	*ret = (struct override_limits){ 0 };
	for (uint32_t i = 0; i < table->n; i++) {
		const struct input_override *entry = &table->entries[i];

		if (entry->domain != domain)
			continue;
		if (entry->min_khz) {
			ret->min_khz = entry->min_khz;
			ret->min_id = entry->id;
		}
		if (entry->max_khz) {
			ret->max_khz = entry->max_khz;
			ret->max_id = entry->id;
		}
		if (entry->frozen_khz) {
			ret->frozen_khz = entry->frozen_khz;
			ret->frozen_id = entry->id;
		}
	}
}
