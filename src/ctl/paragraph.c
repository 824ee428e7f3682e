// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/paragraph.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ctl/format.h"
#include "shared/cleanup.h"

#define LINE_WIDTH 80

/* How many bytes fit into a line, up to a space if there is one. */
static int length_of_line(const char *text)
{
	const int room = LINE_WIDTH - PARAGRAPH_TITLE;
	int width = 0, fits = 0;

	for (int i = 0; text[i]; i++) {
		if (text[i] == ' ' && width <= room)
			fits = i;
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	}
	if (width <= room)
		return (int)strlen(text);
	return fits ? fits : (int)strcspn(text, " ");
}

void paragraph_print(FILE *file, const char *title, const char *text)
{
	_cleanup_free_ char *clean = format_clean(text);
	const char *rest = clean ? clean : "?";

	while (*rest) {
		int length = length_of_line(rest);

		fprintf(file, "%-*s%.*s\n", PARAGRAPH_TITLE, title, length, rest);
		title = "";
		rest += length;
		rest += strspn(rest, " ");
	}
}

void paragraph_printf(FILE *file, const char *title, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&text, format, args);
	va_end(args);
	paragraph_print(file, title, r < 0 ? "?" : text);
}
