// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/table.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/format.h"
#include "ctl/style.h"
#include "shared/text.h"

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
		text_clean(cell);
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

/* How many bytes the first characters of text take. */
static size_t bytes_of(const char *text, size_t characters)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && !characters--)
			break;
	return i;
}

/* How wide each column is printed, and how far they are apart. */
struct spacing {
	size_t widths[TABLE_COLUMNS_MAX];
	int gap;
};

static void print_cell(const struct table *table, const struct spacing *spacing, size_t column,
		       const char *text, FILE *file)
{
	size_t width = spacing->widths[column], used = width_of(text);
	bool is_last = column + 1 == table->n_columns;
	int bytes = (int)bytes_of(text, width);
	int padding = used < width ? (int)(width - used) : 0;

	if (table->columns[column].align == TABLE_RIGHT)
		fprintf(file, "%*s%.*s", padding, "", bytes, text);
	else
		fprintf(file, "%.*s%*s", bytes, text, is_last ? 0 : padding, "");
	fprintf(file, "%*s%s", is_last ? 0 : spacing->gap, "", is_last ? "\n" : "");
}

static size_t line_width(const struct table *table, const struct spacing *spacing)
{
	size_t width = (table->n_columns - 1) * (size_t)spacing->gap;

	for (size_t i = 0; i < table->n_columns; i++)
		width += spacing->widths[i];
	return width;
}

static void fit(const struct table *table, struct spacing *spacing)
{
	size_t *cut = &spacing->widths[table->cut_column];

	if (!table->width || line_width(table, spacing) <= table->width)
		return;
	spacing->gap = 1;
	while (line_width(table, spacing) > table->width && *cut > TABLE_CUT_LEAST)
		--*cut;
}

void table_fit(struct table *table, size_t width, size_t cut_column)
{
	table->width = width;
	table->cut_column = cut_column;
}

void table_print(const struct table *table, FILE *file)
{
	struct spacing spacing = { .gap = 2 };
	size_t *widths = spacing.widths;

	for (size_t i = 0; i < table->n_columns; i++)
		widths[i] = width_of(table->columns[i].title);
	for (size_t i = 0; i < table->n_cells; i++) {
		size_t width = width_of(cell_text(table, i));

		if (width > widths[i % table->n_columns])
			widths[i % table->n_columns] = width;
	}
	fit(table, &spacing);

	fputs(style_bold(file), file);
	for (size_t i = 0; i < table->n_columns; i++)
		print_cell(table, &spacing, i, table->columns[i].title, file);
	fputs(style_plain(file), file);
	for (size_t i = 0; i < table->n_cells; i++)
		print_cell(table, &spacing, i % table->n_columns, cell_text(table, i), file);
}
