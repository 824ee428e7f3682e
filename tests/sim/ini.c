// SPDX-License-Identifier: GPL-2.0-only
#include "sim/ini.h"

#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "config/error.h"
#include "config/file.h"
#include "shared/cleanup.h"

#define INI_LINE_MAX 160 /* less than every build of inih takes */

struct reader {
	struct sim_ini *ini;
	struct policy_place place;
	const char *next, *end;
	bool in_section;
	int error;
	char *message;
};

static int refuse(struct reader *reader, const char *text, const char *expected)
{
	char shown[POLICY_TEXT_SIZE];

	policy_text_escape(text, shown);
	return policy_error_set(&reader->message, -EINVAL, reader->place, "found '%s', expected %s",
				shown, expected);
}

/* Puts the place before what a callback says. */
static int take_message(struct reader *reader, int r, char *message)
{
	_cleanup_free_ char *sentence = message;
	struct policy_place place = reader->place;

	if (reader->ini->fault_line)
		place.line = reader->ini->fault_line;
	if (r < 0)
		policy_error_set(&reader->message, r, place, "%s", sentence ?: "out of memory");
	return r;
}

static bool take_line(struct reader *reader, const char **ret_line, size_t *ret_length)
{
	const char *line = reader->next, *end;

	if (line == reader->end)
		return false;
	end = memchr(line, '\n', reader->end - line);
	reader->next = end ? end + 1 : reader->end;
	reader->place.line++;
	*ret_line = line;
	*ret_length = (end ? end : reader->end) - line;
	return true;
}

static int check_bytes(struct reader *reader, const char *line, size_t length)
{
	const char *bad = policy_text_find_bad_byte(line, length);

	if (length > INI_LINE_MAX)
		return policy_error_set(&reader->message, -EINVAL, reader->place,
					"found a line of %zu bytes, expected at most %d", length,
					INI_LINE_MAX);
	if (bad)
		return policy_error_set(&reader->message, -EILSEQ, reader->place,
					"found the byte 0x%02x at column %zu, expected text in "
					"UTF-8 without control characters",
					(unsigned char)*bad, (size_t)(bad - line) + 1);
	return 0;
}

static int open_section(struct reader *reader, const char *line)
{
	size_t length = strlen(line);
	char name[INI_LINE_MAX + 1], *message = NULL;
	int r;

	if (line[length - 1] != ']' || strchr(line, ']') != line + length - 1)
		return refuse(reader, line, "a [section] alone on its line");
	memcpy(name, line + 1, length - 2);
	name[length - 2] = '\0';
	r = reader->ini->on_section(reader->ini->data, reader->place.line, name, &message);
	if (r < 0)
		return take_message(reader, r, message);
	reader->in_section = true;
	return 0;
}

static int check_line(struct reader *reader, const char *line)
{
	size_t key_length = strcspn(line, "=:;");

	if (!line[0] || line[0] == '#' || line[0] == ';')
		return 0;
	if (line[0] == '[')
		return open_section(reader, line);
	if (key_length == 0 || line[key_length] != '=')
		return refuse(reader, line, "key = value, a [section] or a comment");
	if (!reader->in_section)
		return refuse(reader, line, "a [section] before the first key");
	return 0;
}

/* An ini_reader; blanks at both ends are left out, so that inih sees no continuation line. */
static char *read_line(char *buffer, int size, void *stream)
{
	struct reader *reader = stream;
	const char *line;
	size_t length;

	if (reader->error < 0 || !take_line(reader, &line, &length))
		return NULL;
	reader->error = check_bytes(reader, line, length);
	if (reader->error < 0)
		return NULL;
	for (; length && (line[0] == ' ' || line[0] == '\t'); line++)
		length--;
	while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		length--;
	snprintf(buffer, size, "%.*s", (int)length, line);
	reader->error = check_line(reader, buffer);
	if (reader->error < 0)
		return NULL;
	strcat(buffer, "\n");
	return buffer;
}

static int handle_key(void *user, const char *section, const char *name, const char *value)
{
	struct reader *reader = user;
	char *message = NULL;
	int r;

	r = reader->ini->on_key(reader->ini->data, reader->place.line, name, value, &message);
	reader->error = take_message(reader, r, message);
	return reader->error == 0;
}

int sim_ini_read(struct sim_ini *ini, const char *path, char **ret_message)
{
	struct reader reader = { .ini = ini, .place.file = path };
	_cleanup_free_ char *text = NULL;
	size_t size;
	int r;

	r = policy_file_read(path, &text, &size, ret_message);
	if (r < 0)
		return r;
	reader.next = text;
	reader.end = text + size;
	r = ini_parse_stream(read_line, &reader, handle_key, &reader);
	if (reader.error == 0 && r != 0)
		reader.error = -ENOMEM;
	if (reader.error < 0)
		*ret_message = reader.message;
	return reader.error;
}
