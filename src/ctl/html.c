// SPDX-License-Identifier: GPL-2.0-only
/* Paragraphs and tables of the page of report --html. */
#include "ctl/page.h"

#include <stdarg.h>

#include "record/export.h"
#include "shared/cleanup.h"

void html_paragraph(FILE *out, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list values;

	va_start(values, format);
	if (vasprintf(&text, format, values) < 0)
		text = NULL;
	va_end(values);
	fputs("<p>", out);
	svg_escape(out, text ?: "");
	fputs("</p>\n", out);
}

void html_table(FILE *out, const struct table *table, const json_t *rows, const char *none)
{
	const json_t *row;
	size_t i;

	if (!json_array_size(rows)) {
		html_paragraph(out, "%s", none);
		return;
	}
	fputs("<div class=\"wide\"><table>\n<tr>", out);
	for (size_t c = 0; c < table->n_columns; c++) {
		fprintf(out, "<th scope=\"col\"%s>",
			table_is_right(&table->columns[c], rows) ? " class=\"right\"" : "");
		svg_escape(out, table->columns[c].title);
		fputs("</th>", out);
	}
	json_array_foreach(rows, i, row) {
		fputs("</tr>\n<tr>", out);
		for (size_t c = 0; c < table->n_columns; c++) {
			const struct table_column *column = &table->columns[c];
			_cleanup_free_ char *cell = (column->cell ?: cell_value)(row, column->key);

			fprintf(out, "<td%s>",
				table_is_right(column, rows) ? " class=\"right\"" : "");
			svg_escape(out, cell ?: "?");
			fputs("</td>", out);
		}
	}
	fputs("</tr>\n</table></div>\n", out);
}
