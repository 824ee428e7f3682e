// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/saved_parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/topology.h"
#include "shared/cleanup.h"

#define LINE_MAX_SIZE 192

int saved_read_boot_id(char ret_boot_id[SAVED_BOOT_ID_SIZE])
{
	_cleanup_close_ int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = control_read(fd, ret_boot_id, SAVED_BOOT_ID_SIZE);
	return r < 0 ? r : 0;
}

static bool is_word(const char *text, const char *characters)
{
	return *text && text[strspn(text, characters)] == '\0';
}

static bool is_value(enum control control, const char *value)
{
	if (control == CONTROL_GOVERNOR && strlen(value) >= CONTROL_GOVERNOR_SIZE)
		return false;
	if (control == CONTROL_GOVERNOR || control == CONTROL_PREFERENCE)
		return is_word(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-");
	return is_word(value, "0123456789") && strlen(value) <= 10;
}

/* Strict: the path must be the one that we would have written, to the letter. */
static bool parse_path(const char *path, uint32_t *ret_policy, enum control *ret_control)
{
	unsigned int policy;

	if (sscanf(path, CONTROL_DIRECTORY "/policy%4u/", &policy) != 1 ||
	    policy >= TOPOLOGY_CPUS_MAX)
		return false;

	for (int control = 0; control < CONTROL_N; control++) {
		char expected[LINE_MAX_SIZE];

		snprintf(expected, sizeof(expected), CONTROL_DIRECTORY "/policy%u/%s", policy,
			 control_name((enum control)control));
		if (strcmp(path, expected) == 0) {
			*ret_policy = policy;
			*ret_control = (enum control)control;
			return true;
		}
	}
	return false;
}

/* Cuts *cursor at the next `end`; returns the part before it, or NULL if it does not fit. */
static const char *next_word(char **cursor, char *ret_word, size_t size, char end)
{
	char *stop = strchr(*cursor, end);
	size_t length;

	if (!stop)
		return NULL;
	length = (size_t)(stop - *cursor);
	if (length >= size)
		return NULL;

	memcpy(ret_word, *cursor, length);
	ret_word[length] = '\0';
	*cursor = stop + 1;
	return ret_word;
}

struct line {
	char path[LINE_MAX_SIZE];
	char value[TUNABLE_VALUE_SIZE];
	char put[TUNABLE_VALUE_SIZE];
};

/* PATH VALUE PUT, where text ends with a newline. */
static bool split_line(char *text, struct line *ret)
{
	return next_word(&text, ret->path, sizeof(ret->path), ' ') &&
	       next_word(&text, ret->value, sizeof(ret->value), ' ') &&
	       next_word(&text, ret->put, sizeof(ret->put), '\n') && !*text;
}

static bool parse_control(const struct line *line, struct saved_value *ret)
{
	struct saved_value entry = { 0 };

	if (strlen(line->value) >= sizeof(entry.value) || strlen(line->put) >= sizeof(entry.put))
		return false;
	if (!parse_path(line->path, &entry.policy, &entry.control) ||
	    !is_value(entry.control, line->value))
		return false;
	if (strcmp(line->put, SAVED_ANY) != 0 && !is_value(entry.control, line->put))
		return false;

	strcpy(entry.value, line->value);
	strcpy(entry.put, line->put);
	*ret = entry;
	return true;
}

/* The path is taken apart, and must be the one that its parts make, to the letter. */
static bool parse_tunable_path(const char *path, struct tunable *ret)
{
	char expected[LINE_MAX_SIZE];

	ret->policy = TUNABLE_SHARED;
	if (sscanf(path, CONTROL_DIRECTORY "/policy%4u/%15[^/]/%31s", &ret->policy, ret->governor,
		   ret->name) != 3) {
		ret->policy = TUNABLE_SHARED;
		if (sscanf(path, CONTROL_DIRECTORY "/%15[^/]/%31s", ret->governor, ret->name) != 2)
			return false;
	} else if (ret->policy >= TOPOLOGY_CPUS_MAX) {
		return false;
	}
	return tunable_is_governor(ret->governor) && tunable_is_name(ret->name) &&
	       tunable_path(ret, expected, sizeof(expected)) && strcmp(path, expected) == 0;
}

static bool parse_tunable(const struct line *line, struct tunable *ret)
{
	struct tunable tunable = { 0 };

	if (!parse_tunable_path(line->path, &tunable) || !tunable_is_value(line->value) ||
	    !tunable_is_value(line->put))
		return false;

	strcpy(tunable.value, line->value);
	strcpy(tunable.put, line->put);
	*ret = tunable;
	return true;
}

/* Adds what the line says to the table, whose arrays have room for it. */
static bool parse_entry(char *text, struct saved_values *table)
{
	struct saved_value *entry = &table->entries[table->n];
	struct tunable *tunable = &table->tunables[table->n_tunables];
	struct line line;

	if (!split_line(text, &line))
		return false;
	if (parse_control(&line, entry)) {
		if (saved_find(table, entry->policy, entry->control))
			return false;
		table->n++;
		return true;
	}
	if (table->n_tunables == SAVED_TUNABLES_MAX || !parse_tunable(&line, tunable) ||
	    saved_find_tunable(table, tunable))
		return false;
	table->n_tunables++;
	return true;
}

/* Takes the next line with its newline from *cursor. */
static bool next_line(const char **cursor, char ret_line[LINE_MAX_SIZE])
{
	const char *end = strchr(*cursor, '\n');
	size_t length;

	if (!end)
		return false;
	length = (size_t)(end - *cursor) + 1;
	if (length >= LINE_MAX_SIZE)
		return false;

	memcpy(ret_line, *cursor, length);
	ret_line[length] = '\0';
	*cursor = end + 1;
	return true;
}

static bool is_end(const char *line, const char *cursor, size_t n)
{
	char expected[LINE_MAX_SIZE];

	snprintf(expected, sizeof(expected), "end %zu\n", n);
	return strcmp(line, expected) == 0 && *cursor == '\0';
}

/* Lines up to and with the `end` line, at most n_max. */
static bool parse_entries(const char *cursor, struct saved_values *table, size_t n_max)
{
	char line[LINE_MAX_SIZE];

	for (size_t n = 0; next_line(&cursor, line); n++) {
		if (is_end(line, cursor, n))
			return true;
		if (n == n_max || !parse_entry(line, table))
			return false;
	}
	return false;
}

/* "boot UUID\n" */
static bool parse_boot(const char *line, char ret_boot_id[SAVED_BOOT_ID_SIZE])
{
	size_t length = strlen(line);

	if (strncmp(line, "boot ", 5) != 0 || length != 5 + SAVED_BOOT_ID_SIZE)
		return false;

	memcpy(ret_boot_id, line + 5, SAVED_BOOT_ID_SIZE - 1);
	ret_boot_id[SAVED_BOOT_ID_SIZE - 1] = '\0';
	return is_word(ret_boot_id, "0123456789abcdef-");
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static bool parse_head(const char **cursor, char ret_boot_id[SAVED_BOOT_ID_SIZE])
{
	char line[LINE_MAX_SIZE];

	return next_line(cursor, line) && strcmp(line, SAVED_HEADER) == 0 &&
	       next_line(cursor, line) && parse_boot(line, ret_boot_id);
}

int saved_parse(const char *text, size_t length, const char *boot_id, struct saved_values *ret)
{
	_cleanup_free_ struct saved_value *entries = NULL;
	_cleanup_free_ struct tunable *tunables = NULL;
	struct saved_values table = { 0 };
	char file_boot_id[SAVED_BOOT_ID_SIZE];
	size_t n_max = count_lines(text);

	if (strlen(text) != length || n_max > SAVED_CONTROLS_MAX + SAVED_TUNABLES_MAX + 3 ||
	    !parse_head(&text, file_boot_id))
		return -EBADMSG;

	table.entries = entries = calloc(n_max, sizeof(*entries));
	table.tunables = tunables = calloc(n_max, sizeof(*tunables));
	if (!entries || !tunables)
		return -ENOMEM;
	if (!parse_entries(text, &table, n_max))
		return -EBADMSG;
	if (strcmp(boot_id, file_boot_id) != 0)
		return 0;

	ret->n = table.n;
	ret->n_tunables = table.n_tunables;
	ret->entries = table.n ? take_ptr(entries) : NULL;
	ret->tunables = table.n_tunables ? take_ptr(tunables) : NULL;
	return 0;
}
