/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Writes lines, boxes and texts in SVG. Coordinates are in pixels; texts are UTF-8, with unsafe
 * characters escaped (shared/text.h). Write errors show in ferror(out).
 */

#include <stdio.h>

void svg_begin(FILE *out, int width, int height);
void svg_end(FILE *out);
void svg_box(FILE *out, double x, double y, double width, double height, const char *fill);
void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *stroke);
/* anchor: start, middle or end. */
void svg_text(FILE *out, double x, double y, const char *anchor, const char *text);
/* The same in small print. */
void svg_label(FILE *out, double x, double y, const char *anchor, const char *text);
