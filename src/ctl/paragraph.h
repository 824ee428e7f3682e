/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Lines with a title in front, "policy     /etc/wakegov/…", broken at spaces to 80 columns. */

#include <stdio.h>

/* title is at most PARAGRAPH_TITLE - 1 characters; text is cleaned on its way. */
#define PARAGRAPH_TITLE 11
void paragraph_print(FILE *file, const char *title, const char *text);
void paragraph_printf(FILE *file, const char *title, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
