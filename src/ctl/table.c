// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/format.h"

void table_init(struct table *table, const struct table_column *columns, size_t n_columns)
{
	assert(n_columns <= TABLE_COLUMNS_MAX);

	*table = (struct table){ .columns = columns, .n_columns = n_columns };
}

void table_deinit(struct table *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
}

void table_add(struct table *table, char *cell)
{
	if (table->n_cells == table->size) {
		size_t size = table->size ? 2 * table->size : 64;
		char **cells = reallocarray(table->cells, size, sizeof(*cells));

		/* A client that cannot have some kilobytes has nothing left to show. */
		if (!cells)
			abort();
		table->cells = cells;
		table->size = size;
	}
	if (cell)
		format_disarm(cell);
	table->cells[table->n_cells++] = cell;
}

void table_add_text(struct table *table, const char *text)
{
	table_add(table, format_clean(text));
}

/* In characters, not bytes; double-width ones are rare enough in what we show. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static const char *cell_text(const struct table *table, size_t cell)
{
	return table->cells[cell] ? table->cells[cell] : "?";
}

static void print_cell(const struct table *table, size_t column, const char *text, size_t width,
		       FILE *file)
{
	int padding = (int)(width - width_of(text));

	if (table->columns[column].align == TABLE_RIGHT)
		fprintf(file, "%*s%s", padding, "", text);
	else if (column + 1 < table->n_columns)
		fprintf(file, "%s%*s", text, padding, "");
	else
		fputs(text, file);
	fputs(column + 1 < table->n_columns ? "  " : "\n", file);
}

void table_print(const struct table *table, FILE *file)
{
	size_t widths[TABLE_COLUMNS_MAX];

	for (size_t i = 0; i < table->n_columns; i++)
		widths[i] = width_of(table->columns[i].title);
	for (size_t i = 0; i < table->n_cells; i++) {
		size_t width = width_of(cell_text(table, i));

		if (width > widths[i % table->n_columns])
			widths[i % table->n_columns] = width;
	}

	for (size_t i = 0; i < table->n_columns; i++)
		print_cell(table, i, table->columns[i].title, widths[i], file);
	for (size_t i = 0; i < table->n_cells; i++)
		print_cell(table, i % table->n_columns, cell_text(table, i),
			   widths[i % table->n_columns], file);
}
