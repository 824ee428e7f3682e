/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Emphasis on terminals only, and never where the environment has NO_COLOR (no-color.org) or the
 * terminal is dumb.
 */

#include <stdbool.h>
#include <stdio.h>

bool style_is_used(FILE *file);

/* What begins and ends bold text there: an escape sequence, or "". */
const char *style_bold(FILE *file);
const char *style_plain(FILE *file);
