// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/originals_parse.h"

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

int originals_read_boot_id(char ret_boot_id[ORIGINALS_BOOT_ID_SIZE])
{
	_cleanup_close_ int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = control_read(fd, ret_boot_id, ORIGINALS_BOOT_ID_SIZE);
	return r < 0 ? r : 0;
}

static bool is_word(const char *text, const char *characters)
{
	return *text && text[strspn(text, characters)] == '\0';
}

static bool is_value(enum control control, const char *value)
{
	if (control == CONTROL_GOVERNOR)
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

/* PATH VALUE PUT, where line ends with a newline. */
static bool parse_entry(char *line, struct original *ret)
{
	struct original entry = { 0 };
	char path[LINE_MAX_SIZE];

	if (!next_word(&line, path, sizeof(path), ' ') ||
	    !next_word(&line, entry.value, sizeof(entry.value), ' ') ||
	    !next_word(&line, entry.put, sizeof(entry.put), '\n') || *line)
		return false;
	if (!parse_path(path, &entry.policy, &entry.control) ||
	    !is_value(entry.control, entry.value))
		return false;
	if (strcmp(entry.put, ORIGINALS_ANY) != 0 && !is_value(entry.control, entry.put))
		return false;

	*ret = entry;
	return true;
}

static bool is_repeated(const struct original *entries, size_t n, const struct original *entry)
{
	for (size_t i = 0; i < n; i++)
		if (entries[i].policy == entry->policy && entries[i].control == entry->control)
			return true;
	return false;
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

/* Lines up to and with the `end` line. Returns how many entries, or -EBADMSG. */
static ssize_t parse_entries(const char *cursor, struct original *entries, size_t n_max)
{
	char line[LINE_MAX_SIZE];

	for (size_t n = 0; next_line(&cursor, line); n++) {
		if (is_end(line, cursor, n))
			return (ssize_t)n;
		if (n == n_max || !parse_entry(line, &entries[n]) ||
		    is_repeated(entries, n, &entries[n]))
			return -EBADMSG;
	}
	return -EBADMSG;
}

/* "boot UUID\n" */
static bool parse_boot(const char *line, char ret_boot_id[ORIGINALS_BOOT_ID_SIZE])
{
	size_t length = strlen(line);

	if (strncmp(line, "boot ", 5) != 0 || length != 5 + ORIGINALS_BOOT_ID_SIZE)
		return false;

	memcpy(ret_boot_id, line + 5, ORIGINALS_BOOT_ID_SIZE - 1);
	ret_boot_id[ORIGINALS_BOOT_ID_SIZE - 1] = '\0';
	return is_word(ret_boot_id, "0123456789abcdef-");
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

int originals_parse(const char *text, size_t length, const char *boot_id,
		    struct original **ret_entries, size_t *ret_n)
{
	_cleanup_free_ struct original *entries = NULL;
	char line[LINE_MAX_SIZE], file_boot_id[ORIGINALS_BOOT_ID_SIZE];
	size_t n_max = count_lines(text);
	ssize_t n;

	if (strlen(text) != length || n_max > TOPOLOGY_DOMAINS_MAX * CONTROL_N + 3)
		return -EBADMSG;
	if (!next_line(&text, line) || strcmp(line, ORIGINALS_HEADER) != 0)
		return -EBADMSG;
	if (!next_line(&text, line) || !parse_boot(line, file_boot_id))
		return -EBADMSG;

	entries = calloc(n_max, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	n = parse_entries(text, entries, n_max);
	if (n < 0)
		return (int)n;
	if (n == 0 || strcmp(boot_id, file_boot_id) != 0) {
		*ret_entries = NULL;
		*ret_n = 0;
		return 0;
	}

	*ret_entries = take_ptr(entries);
	*ret_n = (size_t)n;
	return 0;
}
