// SPDX-License-Identifier: GPL-2.0-only
/* The table. Its file, and the changes that go to disk at once, are in saved_file.c. */
#include "actuator/saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/topology.h"
#include "shared/cleanup.h"

struct originals *originals_free(struct originals *originals)
{
	if (originals) {
		free(originals->tunables);
		free(originals->entries);
		free(originals->directory);
		free(originals);
	}
	return NULL;
}

struct original *originals_find(const struct originals *originals, uint32_t policy,
				enum control control)
{
	for (size_t i = 0; i < originals->n; i++) {
		struct original *entry = &originals->entries[i];

		if (entry->policy == policy && entry->control == control)
			return entry;
	}
	return NULL;
}

struct tunable *originals_find_tunable(const struct originals *originals,
				       const struct tunable *like)
{
	for (size_t i = 0; i < originals->n_tunables; i++) {
		struct tunable *tunable = &originals->tunables[i];

		if (tunable->policy == like->policy && strcmp(tunable->name, like->name) == 0 &&
		    strcmp(tunable->governor, like->governor) == 0)
			return tunable;
	}
	return NULL;
}

bool originals_awaits_governor(const struct originals *originals, const struct tunable *tunable)
{
	for (size_t i = 0; i < originals->n; i++) {
		const struct original *entry = &originals->entries[i];

		if (entry->control == CONTROL_GOVERNOR &&
		    (tunable->policy == TUNABLE_SHARED || tunable->policy == entry->policy) &&
		    strcmp(entry->value, tunable->governor) == 0)
			return true;
	}
	return false;
}

bool originals_drop(struct originals *originals, uint32_t policy, enum control control)
{
	struct original *entry = originals_find(originals, policy, control);
	size_t after;

	if (!entry)
		return false;

	after = originals->n - (size_t)(entry - originals->entries) - 1;
	memmove(entry, entry + 1, after * sizeof(*entry));
	originals->n--;
	return true;
}

void originals_drop_tunable(struct originals *originals, size_t index)
{
	struct tunable *tunable = &originals->tunables[index];

	originals->n_tunables--;
	memmove(tunable, tunable + 1, (originals->n_tunables - index) * sizeof(*tunable));
}
