// SPDX-License-Identifier: GPL-2.0-only
/* The table. Its file is saved_file.c. */
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

static struct original *find(const struct originals *originals, uint32_t policy,
			     enum control control)
{
	for (size_t i = 0; i < originals->n; i++) {
		struct original *entry = &originals->entries[i];

		if (entry->policy == policy && entry->control == control)
			return entry;
	}
	return NULL;
}

const struct original *originals_find(const struct originals *originals, uint32_t policy,
				      enum control control)
{
	return find(originals, policy, control);
}

static struct tunable *find_tunable(const struct originals *originals, const struct tunable *like)
{
	for (size_t i = 0; i < originals->n_tunables; i++) {
		struct tunable *tunable = &originals->tunables[i];

		if (tunable->policy == like->policy && strcmp(tunable->name, like->name) == 0 &&
		    strcmp(tunable->governor, like->governor) == 0)
			return tunable;
	}
	return NULL;
}

const struct tunable *originals_find_tunable(const struct originals *originals,
					     const struct tunable *like)
{
	return find_tunable(originals, like);
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

/* Whether it still holds what an earlier run put there, so that its first original stands. */
static bool still_ours(const char *put, const char *now)
{
	return strcmp(put, ORIGINALS_ANY) == 0 || strcmp(put, now) == 0;
}

static void merge(struct originals *originals, const struct original *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct original *old = find(originals, entries[i].policy, entries[i].control);

		if (!old)
			originals->entries[originals->n++] = entries[i];
		else if (!still_ours(old->put, entries[i].value))
			*old = entries[i];
	}
}

static void merge_tunables(struct originals *originals, const struct tunable *tunables, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tunable *old = find_tunable(originals, &tunables[i]);

		if (!old)
			originals->tunables[originals->n_tunables++] = tunables[i];
		else if (!still_ours(old->put, tunables[i].value))
			*old = tunables[i];
	}
}

/* A copy with room for n more; NULL if there is no memory. */
static void *copy_with_room(const void *elements, size_t n_elements, size_t n, size_t size)
{
	void *copy = calloc(n_elements + n + 1, size);

	if (copy && n_elements > 0)
		memcpy(copy, elements, n_elements * size);
	return copy;
}

int originals_add(struct originals *originals, const struct original *entries, size_t n,
		  const struct tunable *tunables, size_t n_tunables)
{
	struct originals before = *originals;
	_cleanup_free_ void *merged = NULL, *merged_tunables = NULL;
	int r;

	if (originals->n + n > ORIGINALS_CONTROLS_MAX ||
	    originals->n_tunables + n_tunables > ORIGINALS_TUNABLES_MAX)
		return -E2BIG;
	merged = copy_with_room(before.entries, before.n, n, sizeof(*entries));
	merged_tunables = copy_with_room(before.tunables, before.n_tunables, n_tunables,
					 sizeof(*tunables));
	if (!merged || !merged_tunables)
		return -ENOMEM;

	originals->entries = merged;
	originals->tunables = merged_tunables;
	merge(originals, entries, n);
	merge_tunables(originals, tunables, n_tunables);
	r = originals_save(originals);
	if (r < 0) {
		*originals = before;
		return r;
	}

	merged = before.entries; /* freed */
	merged_tunables = before.tunables;
	return 0;
}

int originals_replace(struct originals *originals, uint32_t policy, enum control control,
		      const char *value)
{
	struct original *entry = find(originals, policy, control);

	if (!entry)
		return 0;
	snprintf(entry->value, sizeof(entry->value), "%s", value);
	return originals_save(originals);
}

bool originals_drop(struct originals *originals, uint32_t policy, enum control control)
{
	struct original *entry = find(originals, policy, control);
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

int originals_forget(struct originals *originals, uint32_t policy)
{
	for (int control = 0; control < CONTROL_N; control++)
		originals_drop(originals, policy, (enum control)control);
	for (size_t i = originals->n_tunables; i-- > 0;)
		if (!originals_awaits_governor(originals, &originals->tunables[i]))
			originals_drop_tunable(originals, i);
	return originals_save(originals);
}
