// SPDX-License-Identifier: GPL-2.0-only
/*
 * Splits a policy's text into sections, keys and values by inih, after checks of what inih would
 * cut or skip: long lines, bytes that are no text.
 */
#include <errno.h>
#include <ini.h>
#include <string.h>

#include "config/draft.h"
#include "shared/cleanup.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/*
 * inih as Debian builds it cuts lines at 200 bytes, joins an indented line to the value before it,
 * ignores empty sections and text behind a ']', gives the handler no line numbers and goes on after
 * an error. So read_line() checks each line before inih gets it.
 */
struct parser {
	struct policy_reader reader;
	const char *next, *end;
	int error;    /* of the first fault */
	char *faults; /* a line for each */
};

/* All faults of a text are reported at once. */
static void add_fault(struct parser *parser, int r)
{
	if (r >= 0)
		return;
	policy_error_append(&parser->faults, take_ptr(parser->reader.message));
	parser->error = parser->error ?: r;
}

static int check_text(struct policy_reader *reader, const char *line, size_t length)
{
	const char *bad;

	if (length > POLICY_LINE_MAX)
		return policy_refuse(reader, -EINVAL,
				     "found a line of %zu bytes, expected at most %d", length,
				     POLICY_LINE_MAX);
	bad = policy_text_find_bad_byte(line, length);
	if (bad)
		return policy_refuse(reader, -EILSEQ,
				     "found the byte 0x%02x at column %zu, expected text in UTF-8 "
				     "without control characters",
				     (unsigned char)*bad, (size_t)(bad - line) + 1);
	return 0;
}

/* A section is opened; of other lines it is seen whether inih takes them as they are meant. */
static int check_line(struct policy_reader *reader, const char *line)
{
	size_t key_length = strcspn(line, "=:;");
	int r;

	if (line[0] == '[') {
		r = policy_section_open(reader, line);
		reader->is_refused = r < 0;
		return r;
	}
	/* inih would take "key: value" too, and a ';' before the '=' for a comment. */
	if (!line[0] || strchr("#;", line[0]) || (key_length > 0 && line[key_length] == '='))
		return 0;
	return policy_refuse(reader, -EINVAL,
			     "found '%s', expected key = value, a [section] or a comment",
			     policy_shown(reader, line));
}

/* Strips blanks at both ends, so that inih sees no continuation line. */
static int copy_line(struct policy_reader *reader, const char *line, size_t length, char *buffer,
		     int size)
{
	int r = check_text(reader, line, length);

	if (r < 0)
		return r;
	for (; length && strchr(" \t", line[0]); line++)
		length--;
	while (length && strchr(" \t", line[length - 1]))
		length--;
	/* POLICY_LINE_MAX, a newline and the NUL fit every build of inih. */
	if (length + 2 > (size_t)size)
		return policy_refuse(
			reader, -ENOBUFS,
			"found a line of %zu bytes, expected at most %d with this build of "
			"inih",
			length, size - 2);
	memcpy(buffer, line, length);
	buffer[length] = '\0';
	r = check_line(reader, buffer);
	strcpy(buffer + length, "\n");
	return r;
}

/* An ini_reader of the valid lines, each without its end, which is LF or CRLF. */
static char *read_line(char *buffer, int size, void *stream)
{
	struct parser *parser = stream;
	int r;

	do {
		const char *line = parser->next, *end;

		if (line == parser->end)
			return NULL;
		end = memchr(line, '\n', parser->end - line);
		parser->next = end ? end + 1 : parser->end;
		if (!end)
			end = parser->end;
		if (end > line && end[-1] == '\r')
			end--;
		parser->reader.place.line++;
		r = copy_line(&parser->reader, line, end - line, buffer, size);
		add_fault(parser, r);
	} while (r < 0);
	return buffer;
}

/* An ini_handler. Keys in an unknown section are no faults of their own. */
static int handle_key(void *user, const char *section, const char *name, const char *value)
{
	struct parser *parser = user;
	struct policy_reader *reader = &parser->reader;

	if (reader->is_refused)
		return 1;
	if (reader->is_open) {
		add_fault(parser, policy_section_assign(reader, name, value));
		return 1;
	}
	reader->is_refused = true;
	add_fault(parser,
		  policy_refuse(reader, -EINVAL,
				"found the key '%s' before any section, expected a [section] first",
				policy_shown(reader, name)));
	return 1;
}

int policy_parse(struct policy_draft *draft, const char *file, const char *text, size_t size,
		 char **ret_message)
{
	struct parser parser = {
		.reader = { .draft = draft,
			    .added_before = draft->origins.n_added,
			    .place.file = file },
		.next = text,
		.end = text + size,
	};
	size_t mark = strlen(BYTE_ORDER_MARK);
	int r;

	if (size >= mark && !memcmp(text, BYTE_ORDER_MARK, mark))
		parser.next += mark;

	r = ini_parse_stream(read_line, &parser, handle_key, &parser);
	if (parser.error == 0 && r != 0)
		parser.error = r == -2 ? -ENOMEM : -EINVAL;
	if (parser.error < 0)
		*ret_message = parser.faults;
	return parser.error;
}
