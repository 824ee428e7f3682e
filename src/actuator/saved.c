// SPDX-License-Identifier: GPL-2.0-only
/* The table. Its file, and the changes that are saved at once, are in saved_file.c. */
#include "actuator/saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/topology.h"
#include "shared/cleanup.h"

struct saved_values *saved_free(struct saved_values *saved)
{
	if (saved) {
		free(saved->tunables);
		free(saved->entries);
		free(saved->directory);
		free(saved);
	}
	return NULL;
}

struct saved_value *saved_find(const struct saved_values *saved, uint32_t policy,
			       enum control control)
{
	for (size_t i = 0; i < saved->n; i++) {
		struct saved_value *entry = &saved->entries[i];

		if (entry->policy == policy && entry->control == control)
			return entry;
	}
	return NULL;
}

struct tunable *saved_find_tunable(const struct saved_values *saved, const struct tunable *like)
{
	for (size_t i = 0; i < saved->n_tunables; i++) {
		struct tunable *tunable = &saved->tunables[i];

		if (tunable->policy == like->policy && strcmp(tunable->name, like->name) == 0 &&
		    strcmp(tunable->governor, like->governor) == 0)
			return tunable;
	}
	return NULL;
}

bool saved_awaits_governor(const struct saved_values *saved, const struct tunable *tunable)
{
	for (size_t i = 0; i < saved->n; i++) {
		const struct saved_value *entry = &saved->entries[i];

		if (entry->control == CONTROL_GOVERNOR &&
		    (tunable->policy == TUNABLE_SHARED || tunable->policy == entry->policy) &&
		    strcmp(entry->value, tunable->governor) == 0)
			return true;
	}
	return false;
}

bool saved_drop(struct saved_values *saved, uint32_t policy, enum control control)
{
	struct saved_value *entry = saved_find(saved, policy, control);
	size_t after;

	if (!entry)
		return false;

	after = saved->n - (size_t)(entry - saved->entries) - 1;
	memmove(entry, entry + 1, after * sizeof(*entry));
	saved->n--;
	return true;
}

void saved_drop_tunable(struct saved_values *saved, size_t index)
{
	struct tunable *tunable = &saved->tunables[index];

	saved->n_tunables--;
	memmove(tunable, tunable + 1, (saved->n_tunables - index) * sizeof(*tunable));
}
