// SPDX-License-Identifier: GPL-2.0-only
#include "config/origins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_of(const struct policy_origin *origin, const char *section, const char *key)
{
	return !strcmp(origin->section, section) && !strcmp(origin->key, key);
}

static void free_entry(struct policy_origin *entry)
{
	free(entry->section);
	free(entry->key);
	free(entry->value);
}

/* A key keeps its first place among the others when its value is replaced. */
static int replace(struct policy_origins *origins, struct policy_origin *first, const char *value,
		   struct policy_place place)
{
	size_t n = first - origins->entries + 1;
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(first->value);
	first->value = copy;
	first->place = place;
	for (size_t i = n; i < origins->n; i++)
		if (is_of(&origins->entries[i], first->section, first->key))
			free_entry(&origins->entries[i]);
		else
			origins->entries[n++] = origins->entries[i];
	origins->n = n;
	return 0;
}

int policy_origins_note(struct policy_origins *origins, const char *section, const char *key,
			const char *value, struct policy_place place, bool is_more)
{
	const struct policy_origin *first = policy_origins_find(origins, section, key);
	struct policy_origin *entries, entry = { .place = place };

	if (first && !is_more)
		return replace(origins, &origins->entries[first - origins->entries], value, place);
	entries = reallocarray(origins->entries, origins->n + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	origins->entries = entries;
	entry.section = strdup(section);
	entry.key = strdup(key);
	entry.value = strdup(value);
	if (!entry.section || !entry.key || !entry.value) {
		free_entry(&entry);
		return -ENOMEM;
	}
	entries[origins->n++] = entry;
	return 0;
}

const struct policy_origin *policy_origins_find(const struct policy_origins *origins,
						const char *section, const char *key)
{
	for (size_t i = 0; i < origins->n; i++)
		if (is_of(&origins->entries[i], section, key))
			return &origins->entries[i];
	return NULL;
}

void policy_origins_deinit(struct policy_origins *origins)
{
	for (size_t i = 0; i < origins->n; i++)
		free_entry(&origins->entries[i]);
	free(origins->entries);
	*origins = (struct policy_origins){ 0 };
}
