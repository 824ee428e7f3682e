// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages for the administrator: file, line, what was found, what was expected. Quoted text is
 * escaped, as a file may hold any bytes.
 */
#include "config/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "shared/cleanup.h"
#include "shared/text.h"

const char *policy_text_find_bad_byte(const char *line, size_t length)
{
	for (size_t i = 0; i < length;) {
		struct text_character c = text_first(line + i, length - i);

		/*
		 * Control characters are below U+00A0; other invisible ones are allowed in
		 * comments.
		 */
		if (c.kind == TEXT_INVALID ||
		    (c.kind == TEXT_UNSAFE && c.code < 0xa0 && c.code != '\t'))
			return line + i;
		i += c.length;
	}
	return NULL;
}

void policy_text_escape(const char *text, char ret[static POLICY_TEXT_SIZE])
{
	size_t length = strlen(text);
	size_t shown = length > POLICY_TEXT_SHOWN_MAX ? POLICY_TEXT_SHOWN_MAX : length;
	char *out = ret;

	for (size_t i = 0; i < shown; i++) {
		unsigned char byte = text[i];

		if (byte >= 0x20 && byte < 0x7f)
			*out++ = byte;
		else
			out += sprintf(out, "\\x%02x", byte);
	}
	strcpy(out, shown < length ? "..." : "");
}

int policy_error_set(char **ret_message, int error, struct policy_place place, const char *format,
		     ...)
{
	_cleanup_free_ char *sentence = NULL;
	char *message;
	va_list args;
	int r;

	*ret_message = NULL;

	va_start(args, format);
	r = vasprintf(&sentence, format, args);
	va_end(args);
	if (r < 0) {
		sentence = NULL;
		return error;
	}

	if (place.line)
		r = asprintf(&message, "%s:%u: %s", place.file, place.line, sentence);
	else
		r = asprintf(&message, "%s: %s", place.file, sentence);
	if (r < 0)
		return error;

	/* A file's name may hold a newline. */
	*ret_message = text_clean(message);
	return error;
}

bool policy_text_has_comment(const char *text)
{
	for (const char *mark = text; (mark = strchr(mark, '#')); mark++)
		if (mark == text || strchr(" \t", mark[-1]))
			return true;
	return false;
}

void policy_error_hint(const char *shown, char ret[static POLICY_HINT_SIZE])
{
	size_t digits = strspn(shown, "0123456789."), blanks = strspn(shown + digits, " ");
	const char *unit = shown + digits + blanks;

	ret[0] = '\0';
	if (policy_text_has_comment(shown))
		strcpy(ret, "; a comment behind a value begins with a ;");
	else if (digits && blanks && strspn(unit, "0123456789") == 0 && *unit && !strchr(unit, ' '))
		sprintf(ret, "; write it without a blank: %.*s%s", (int)digits, shown, unit);
}

void policy_error_append(char **list, char *sentence)
{
	static const char more[] = "and more; mend these first";
	_cleanup_free_ char *added = sentence, *before = *list;
	unsigned int n = 1;

	for (const char *c = before ?: ""; *c; c++)
		n += *c == '\n';
	if (!before) {
		*list = take_ptr(added);
	} else if (!sentence || strstr(before, more) ||
		   asprintf(list, "%s\n%s", before, n < POLICY_FAULTS_SHOWN ? added : more) < 0) {
		*list = take_ptr(before);
	}
}
