/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Parts of an HTML page. Texts are foreign: they are cleaned and escaped. */

#include "ctl/print.h"

void html_paragraph(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A table, or the sentence where it has no rows. */
void html_table(FILE *out, const struct table *table, const json_t *rows, const char *none);
