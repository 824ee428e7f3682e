/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Bold text on terminals only, and not if the environment has NO_COLOR (no-color.org) or the
 * terminal is dumb.
 */

#include <stdbool.h>
#include <stdio.h>

bool style_is_used(FILE *file);

/* The escape sequences that begin and end bold text, or "". */
const char *style_bold(FILE *file);
const char *style_plain(FILE *file);
