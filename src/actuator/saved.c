// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/saved.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/cleanup.h"
#include "shared/statefile.h"

#define LINE_SIZE 192

static const struct statefile saved_file = { .name = SAVED_FILE, .version = 2 };

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

void saved_drop(struct saved_values *saved, uint32_t policy, enum control control)
{
	struct saved_value *entry = saved_find(saved, policy, control);

	if (entry) {
		saved->n--;
		memmove(entry, entry + 1,
			(size_t)(saved->entries + saved->n - entry) * sizeof(*entry));
	}
}

void saved_drop_tunable(struct saved_values *saved, size_t index)
{
	struct tunable *tunable = &saved->tunables[index];

	saved->n_tunables--;
	memmove(tunable, tunable + 1, (saved->n_tunables - index) * sizeof(*tunable));
}

struct saved_value saved_entry(uint32_t policy, enum control control, const char *value,
			       const char *put)
{
	struct saved_value entry = { .policy = policy, .control = control };

	snprintf(entry.value, sizeof(entry.value), "%s", value);
	snprintf(entry.put, sizeof(entry.put), "%s", put);
	return entry;
}

struct saved_value saved_entry_khz(uint32_t policy, enum control control, uint32_t khz)
{
	char text[CONTROL_VALUE_SIZE];

	snprintf(text, sizeof(text), "%u", khz);
	return saved_entry(policy, control, text, SAVED_ANY);
}

static void print_control(char ret_line[LINE_SIZE], const struct saved_value *entry)
{
	char path[CONTROL_PATH_SIZE];

	control_path(entry->control, entry->policy, path);
	snprintf(ret_line, LINE_SIZE, "%s %s %s%s", path, entry->value, entry->put,
		 entry->hidden ? SAVED_ANY : "");
}

static void print_tunable(char ret_line[LINE_SIZE], const struct tunable *tunable)
{
	char path[LINE_SIZE / 2];

	if (!tunable_path(tunable, path, sizeof(path)))
		path[0] = '\0'; /* not reached: the longest one fits */
	snprintf(ret_line, LINE_SIZE, "%s %s %s", path, tunable->value, tunable->put);
}

static void print_lines(FILE *out, const void *data)
{
	const struct saved_values *saved = data;
	char line[LINE_SIZE];

	for (size_t i = 0; i < saved->n; i++) {
		print_control(line, &saved->entries[i]);
		fprintf(out, "%s\n", line);
	}
	for (size_t i = 0; i < saved->n_tunables; i++) {
		print_tunable(line, &saved->tunables[i]);
		fprintf(out, "%s\n", line);
	}
}

int saved_save(const struct saved_values *saved)
{
	if (saved->n + saved->n_tunables == 0)
		return statefile_remove(saved->directory, &saved_file);
	return statefile_write(saved->directory, &saved_file, print_lines, saved);
}

static bool is_value(enum control control, const char *value)
{
	const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t length = strlen(value), length_max = CONTROL_VALUE_SIZE - 1;

	if (control == CONTROL_RESUME_LATENCY && strcmp(value, RESUME_LATENCY_ZERO) == 0)
		return true;
	if (control == CONTROL_GOVERNOR) {
		length_max = CONTROL_GOVERNOR_SIZE - 1;
	} else if (control != CONTROL_PREFERENCE) {
		allowed = "0123456789";
		length_max = 10;
	}
	return length > 0 && length <= length_max && strspn(value, allowed) == length;
}

/* Strict: the line must be the one that we would have written, to the letter. */
static bool parse_control(const char *line, struct saved_value *ret)
{
	char name[32], expected[LINE_SIZE], *mark;
	struct saved_value entry = { 0 };

	if ((sscanf(line, CONTROL_DIRECTORY "/policy%4u/%31s %23s %23s", &entry.policy, name,
		    entry.value, entry.put) != 4 &&
	     sscanf(line, CONTROL_CPUS "/cpu%4u/power/%31s %23s %23s", &entry.policy, name,
		    entry.value, entry.put) != 4) ||
	    entry.policy >= TOPOLOGY_CPUS_MAX)
		return false;
	while (strcmp(name, control_name(entry.control)) != 0)
		if (entry.control++ == CONTROL_RESUME_LATENCY)
			return false;
	mark = strchr(entry.put, SAVED_ANY[0]);
	if (mark && mark > entry.put && entry.control == CONTROL_PREFERENCE) {
		entry.hidden = true;
		*mark = '\0';
	}
	print_control(expected, &entry);
	if (strcmp(line, expected) != 0 || !is_value(entry.control, entry.value) ||
	    (strcmp(entry.put, SAVED_ANY) != 0 && !is_value(entry.control, entry.put)))
		return false;
	*ret = entry;
	return true;
}

/* As strict: a path is taken apart, and must be the one that its parts make. */
static bool parse_tunable(const char *line, struct tunable *ret)
{
	struct tunable tunable = { 0 };
	char expected[LINE_SIZE];

	if (sscanf(line, CONTROL_DIRECTORY "/policy%4u/%23[^/]/%31s %31s %31s", &tunable.policy,
		   tunable.governor, tunable.name, tunable.value, tunable.put) != 5) {
		tunable = (struct tunable){ .policy = TUNABLE_SHARED };
		if (sscanf(line, CONTROL_DIRECTORY "/%23[^/]/%31s %31s %31s", tunable.governor,
			   tunable.name, tunable.value, tunable.put) != 4)
			return false;
	} else if (tunable.policy >= TOPOLOGY_CPUS_MAX) {
		return false;
	}
	print_tunable(expected, &tunable);
	if (strcmp(line, expected) != 0 || strlen(tunable.governor) >= CONTROL_GOVERNOR_SIZE ||
	    !tunable_is_governor(tunable.governor) || !tunable_is_name(tunable.name) ||
	    !tunable_is_value(tunable.value) || !tunable_is_value(tunable.put))
		return false;
	*ret = tunable;
	return true;
}

/* Adds what the line says to the table, whose arrays have room for it. */
static bool parse_line(const char *line, struct saved_values *table)
{
	struct saved_value *entry = &table->entries[table->n];
	struct tunable *tunable = &table->tunables[table->n_tunables];

	if (parse_control(line, entry)) {
		if (saved_find(table, entry->policy, entry->control))
			return false;
		table->n++;
		return true;
	}
	if (table->n_tunables == SAVED_TUNABLES_MAX || !parse_tunable(line, tunable) ||
	    saved_find_tunable(table, tunable))
		return false;
	table->n_tunables++;
	return true;
}

int saved_open(const char *directory, struct saved_values **ret)
{
	_cleanup_(statefile_close) struct statefile_reader reader = { 0 };
	struct saved_values *saved = calloc(1, sizeof(*saved));
	char *line;
	int r;

	if (!saved)
		return -ENOMEM;
	saved->directory = strdup(directory);
	r = saved->directory ? statefile_open(directory, &saved_file, &reader) : -ENOMEM;
	if (r > 0 && reader.n_max > SAVED_CONTROLS_MAX + SAVED_TUNABLES_MAX + 1)
		r = -EBADMSG;
	if (r > 0) {
		saved->entries = calloc(reader.n_max + 1, sizeof(*saved->entries));
		saved->tunables = calloc(reader.n_max + 1, sizeof(*saved->tunables));
		if (!saved->entries || !saved->tunables)
			r = -ENOMEM;
	}
	while (r > 0 && (r = statefile_next(&reader, &line)) > 0)
		if (!parse_line(line, saved))
			r = -EBADMSG;
	if (r < 0) {
		saved_free(saved);
		return r;
	}
	*ret = saved;
	return 0;
}

bool saved_is_ours(const struct saved_value *entry, const char *now)
{
	return strcmp(entry->put, SAVED_ANY) == 0 || strcmp(entry->put, now) == 0 ||
	       (entry->hidden && strcmp(now, PREFERENCE_PERFORMANCE) == 0);
}

static void merge(struct saved_values *saved, const struct saved_value *entries, size_t n,
		  const struct tunable *tunables, size_t n_tunables)
{
	for (size_t i = 0; i < n; i++) {
		struct saved_value *old = saved_find(saved, entries[i].policy, entries[i].control);

		if (!old)
			saved->entries[saved->n++] = entries[i];
		else if (saved_is_ours(old, entries[i].value))
			strcpy(old->put, entries[i].put);
		else
			*old = entries[i];
	}
	for (size_t i = 0; i < n_tunables; i++) {
		struct tunable *old = saved_find_tunable(saved, &tunables[i]);

		if (!old)
			saved->tunables[saved->n_tunables++] = tunables[i];
		else if (strcmp(old->put, SAVED_ANY) != 0 &&
			 strcmp(old->put, tunables[i].value) != 0)
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

int saved_add(struct saved_values *saved, const struct saved_value *entries, size_t n,
	      const struct tunable *tunables, size_t n_tunables)
{
	struct saved_values before = *saved;
	_cleanup_free_ void *merged = NULL, *merged_tunables = NULL;
	int r;

	for (size_t i = 0; i < n; i++)
		if (!is_value(entries[i].control, entries[i].value))
			return -EINVAL;
	if (saved->n + n > SAVED_CONTROLS_MAX ||
	    saved->n_tunables + n_tunables > SAVED_TUNABLES_MAX)
		return -E2BIG;
	merged = copy_with_room(before.entries, before.n, n, sizeof(*entries));
	merged_tunables = copy_with_room(before.tunables, before.n_tunables, n_tunables,
					 sizeof(*tunables));
	if (!merged || !merged_tunables)
		return -ENOMEM;

	saved->entries = merged;
	saved->tunables = merged_tunables;
	merge(saved, entries, n, tunables, n_tunables);
	r = saved_save(saved);
	if (r < 0) {
		*saved = before;
		return r;
	}

	merged = before.entries; /* freed */
	merged_tunables = before.tunables;
	return 0;
}

int saved_replace(struct saved_values *saved, uint32_t policy, enum control control,
		  const char *value)
{
	struct saved_value *entry = saved_find(saved, policy, control);

	if (!entry)
		return 0;
	snprintf(entry->value, sizeof(entry->value), "%s", value);
	return saved_save(saved);
}

int saved_hide(struct saved_values *saved, struct saved_value *entry, bool hidden)
{
	if (entry->hidden == hidden)
		return 0;
	entry->hidden = hidden;
	return saved_save(saved);
}
