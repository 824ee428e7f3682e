// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of saved values and its file. An entry is a path, the value from before us and ours.
 * The path tells which control it is, and of which domain.
 */
#include "actuator/saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/cleanup.h"
#include "shared/statefile.h"

#define LOWER_WORD "abcdefghijklmnopqrstuvwxyz0123456789_-"
#define WORD	   LOWER_WORD "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS	   "0123456789"
#define LINE_SIZE  (CONTROL_PATH_SIZE + 2 * SAVED_VALUE_SIZE + 2)

static const struct statefile saved_file = { .name = SAVED_FILE, .version = 2 };

struct saved_values *saved_free(struct saved_values *saved)
{
	if (saved) {
		free(saved->entries);
		free(saved->directory);
		free(saved);
	}
	return NULL;
}

struct saved_value *saved_find_path(const struct saved_values *saved, const char *path)
{
	for (size_t i = 0; i < saved->n; i++)
		if (strcmp(saved->entries[i].path, path) == 0)
			return &saved->entries[i];
	return NULL;
}

struct saved_value *saved_find(const struct saved_values *saved, uint32_t number,
			       enum control control)
{
	char path[CONTROL_PATH_SIZE];

	control_path(control, number, path);
	return saved_find_path(saved, path);
}

bool saved_is_ours(const struct saved_value *entry, const char *now)
{
	return strcmp(entry->ours, SAVED_ANY) == 0 || strcmp(entry->ours, now) == 0 ||
	       (entry->hidden && strcmp(now, PREFERENCE_PERFORMANCE) == 0);
}

bool saved_is_tunable_of(const struct saved_value *entry, uint32_t policy, const char *governor)
{
	char directory[CONTROL_PATH_SIZE];

	control_tunables_path(entry->policy, governor, directory);
	return entry->control == CONTROL_TUNABLE &&
	       (entry->policy == policy || entry->policy == CONTROL_SHARED) &&
	       strncmp(entry->path, directory, strlen(directory)) == 0;
}

void saved_drop(struct saved_values *saved, struct saved_value *entry)
{
	if (!entry)
		return;
	saved->n--;
	memmove(entry, entry + 1, (size_t)(saved->entries + saved->n - entry) * sizeof(*entry));
}

static bool is_word(const char *text, size_t length_max, const char *allowed)
{
	size_t length = strlen(text);

	return length > 0 && length <= length_max && strspn(text, allowed) == length;
}

/* GOVERNOR/NAME. Other directories there: policyN in cpufreq/, stats in policyN/. */
static bool is_tunable(const char *name)
{
	char governor[CONTROL_GOVERNOR_SIZE];
	size_t length = strcspn(name, "/");

	if (!name[length] || length >= sizeof(governor))
		return false;
	memcpy(governor, name, length);
	governor[length] = '\0';
	return is_word(governor, length, LOWER_WORD) && strncmp(governor, "policy", 6) != 0 &&
	       strcmp(governor, "stats") != 0 &&
	       is_word(name + length + 1, SAVED_VALUE_SIZE - 1, LOWER_WORD);
}

/* Parses the path; false unless it is one that we would write. */
static bool parse_path(struct saved_value *entry)
{
	char expected[CONTROL_PATH_SIZE];
	const char *name;
	uint32_t number;
	int n = 0;

	entry->policy = CONTROL_SHARED;
	if (strncmp(entry->path, CONTROL_DIRECTORY "/", sizeof(CONTROL_DIRECTORY)) != 0)
		return false;
	name = entry->path + sizeof(CONTROL_DIRECTORY);
	if (sscanf(name, "policy%4u/%n", &number, &n) == 1 && n) {
		entry->policy = number;
		for (int control = 0; control < CONTROL_N; control++) {
			entry->control = (enum control)control;
			control_path(entry->control, number, expected);
			if (strcmp(entry->path, expected) == 0)
				return number < TOPOLOGY_CPUS_MAX;
		}
		/* Accepts the number only in the form that we write. */
		snprintf(expected, sizeof(expected), "policy%u/", number);
		if (number >= TOPOLOGY_CPUS_MAX || strncmp(name, expected, strlen(expected)) != 0)
			return false;
		name += n;
	}
	entry->control = CONTROL_TUNABLE;
	return is_tunable(name);
}

static bool is_value(enum control control, const char *value)
{
	const char *at = value;

	switch (control) {
	case CONTROL_GOVERNOR:
		return is_word(value, CONTROL_GOVERNOR_SIZE - 1, WORD);
	case CONTROL_PREFERENCE:
		return is_word(value, CONTROL_VALUE_SIZE - 1, WORD);
	case CONTROL_TUNABLE: /* one word of any kind */
		while (*at > ' ' && *at <= '~')
			at++;
		return at > value && !*at;
	default:
		return is_word(value, 10, DIGITS);
	}
}

bool saved_is_valid(const struct saved_value *entry)
{
	struct saved_value parsed = *entry;

	return parse_path(&parsed) && is_value(parsed.control, entry->value) &&
	       (strcmp(entry->ours, SAVED_ANY) == 0 || is_value(parsed.control, entry->ours));
}

struct saved_value saved_entry_at(const char *path, const char *value, const char *ours)
{
	struct saved_value entry = { 0 };

	snprintf(entry.path, sizeof(entry.path), "%s", path);
	snprintf(entry.value, sizeof(entry.value), "%s", value);
	snprintf(entry.ours, sizeof(entry.ours), "%s", ours);
	parse_path(&entry);
	return entry;
}

struct saved_value saved_entry(uint32_t number, enum control control, const char *value,
			       const char *ours)
{
	char path[CONTROL_PATH_SIZE];

	control_path(control, number, path);
	return saved_entry_at(path, value, ours);
}

struct saved_value saved_entry_khz(uint32_t policy, enum control control, uint32_t khz)
{
	char text[CONTROL_VALUE_SIZE];

	snprintf(text, sizeof(text), "%u", khz);
	return saved_entry(policy, control, text, SAVED_ANY);
}

static void print_line(char ret_line[LINE_SIZE], const struct saved_value *entry)
{
	snprintf(ret_line, LINE_SIZE, "%s %s %s%s", entry->path, entry->value, entry->ours,
		 entry->hidden ? SAVED_ANY : "");
}

static void print_lines(FILE *out, const void *data)
{
	const struct saved_values *saved = data;
	char line[LINE_SIZE];

	for (size_t i = 0; i < saved->n; i++) {
		print_line(line, &saved->entries[i]);
		fprintf(out, "%s\n", line);
	}
}

int saved_save(const struct saved_values *saved)
{
	if (!saved->n)
		return statefile_remove(saved->directory, &saved_file);
	return statefile_write(saved->directory, &saved_file, print_lines, saved);
}

/* Strict: accepts only a line exactly as we would write it. */
static bool parse_line(const char *line, struct saved_value *ret)
{
	char path[CONTROL_PATH_SIZE], value[SAVED_VALUE_SIZE], ours[SAVED_VALUE_SIZE];
	char expected[LINE_SIZE], *mark;
	bool hidden = false;

	_Static_assert(sizeof(path) == 128 && sizeof(value) == 32, "the widths below");
	if (sscanf(line, "%127s %31s %31s", path, value, ours) != 3)
		return false;
	mark = strchr(ours, SAVED_ANY[0]);
	if (mark && mark > ours && strstr(path, control_names[CONTROL_PREFERENCE])) {
		hidden = true;
		*mark = '\0';
	}
	*ret = saved_entry_at(path, value, ours);
	ret->hidden = hidden;
	print_line(expected, ret);
	return strcmp(line, expected) == 0 && saved_is_valid(ret);
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
	if (r > 0 && reader.n_max > SAVED_MAX + 1)
		r = -EBADMSG;
	if (r > 0) {
		saved->entries = calloc(reader.n_max + 1, sizeof(*saved->entries));
		r = saved->entries ? r : -ENOMEM;
	}
	while (r > 0 && (r = statefile_next(&reader, &line)) > 0) {
		struct saved_value *entry = &saved->entries[saved->n];

		if (saved->n < SAVED_MAX && parse_line(line, entry) &&
		    !saved_find_path(saved, entry->path))
			saved->n++;
		else
			r = -EBADMSG;
	}
	if (r < 0) {
		saved_free(saved);
		return r;
	}
	*ret = saved;
	return 0;
}

int saved_add(struct saved_values *saved, const struct saved_value *entries, size_t n)
{
	struct saved_values before = *saved;
	_cleanup_free_ struct saved_value *merged = NULL;
	int r;

	for (size_t i = 0; i < n; i++)
		if (!saved_is_valid(&entries[i]))
			return -EINVAL;
	if (saved->n + n > SAVED_MAX)
		return -E2BIG;
	merged = calloc(saved->n + n + 1, sizeof(*merged));
	if (!merged)
		return -ENOMEM;
	if (saved->n)
		memcpy(merged, saved->entries, saved->n * sizeof(*merged));
	saved->entries = merged;
	for (size_t i = 0; i < n; i++) {
		struct saved_value *old = saved_find_path(saved, entries[i].path);

		if (!old)
			saved->entries[saved->n++] = entries[i];
		else if (!saved_is_ours(old, entries[i].value))
			*old = entries[i];
		else if (entries[i].control != CONTROL_TUNABLE)
			strcpy(old->ours, entries[i].ours);
	}
	r = saved_save(saved);
	if (r < 0) {
		*saved = before;
		return r;
	}
	merged = before.entries; /* freed */
	return 0;
}
