// SPDX-License-Identifier: GPL-2.0-only
#include "record/svg.h"

#include <stdbool.h>

#include "shared/text.h"

#define SVG_TEXT_SIZE 512

void svg_end(FILE *out)
{
	fputs("</svg>\n", out);
}

void svg_box(FILE *out, double x, double y, double width, double height, const char *fill)
{
	fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n",
		x, y, width, height, fill);
}

void svg_begin(FILE *out, int width, int height)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n",
		width, height, width, height);
	svg_box(out, 0, 0, width, height, "#ffffff");
}

void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *stroke)
{
	fprintf(out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\"/>\n", x1,
		y1, x2, y2, stroke);
}

static void put_escaped(FILE *out, const char *foreign)
{
	char text[SVG_TEXT_SIZE];

	text_copy(text, sizeof(text), foreign);
	for (const char *c = text; *c; c++) {
		if (*c == '&')
			fputs("&amp;", out);
		else if (*c == '<')
			fputs("&lt;", out);
		else if (*c == '>')
			fputs("&gt;", out);
		else
			fputc(*c, out);
	}
}

static void put_text(FILE *out, double x, double y, const char *anchor, const char *text,
		     bool small)
{
	fprintf(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\"%s>", x, y, anchor,
		small ? " font-size=\"11\" fill=\"#555555\"" : "");
	put_escaped(out, text);
	fputs("</text>\n", out);
}

void svg_text(FILE *out, double x, double y, const char *anchor, const char *text)
{
	put_text(out, x, y, anchor, text, false);
}

void svg_label(FILE *out, double x, double y, const char *anchor, const char *text)
{
	put_text(out, x, y, anchor, text, true);
}
