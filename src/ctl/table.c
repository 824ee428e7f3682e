// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/format.h"
#include "ctl/show.h"
#include "ctl/style.h"
#include "shared/text.h"

char *cell_text(const json_t *row, const char *key)
{
	return format_clean(field_text(row, key));
}

char *cell_number(const json_t *row, const char *key)
{
	return field_is_known(row, key) ? format_count(field_number(row, key)) : format_clean(NULL);
}

char *cell_frequency(const json_t *row, const char *key)
{
	return format_frequency(field_number(row, key));
}

char *cell_mhz(const json_t *row, const char *key)
{
	uint64_t khz = field_number(row, key);

	return khz ? format_count((khz + 500) / 1000) : format_clean(NULL);
}

char *cell_permille(const json_t *row, const char *key)
{
	return field_is_known(row, key) ? format_permille(field_number(row, key))
					: format_clean(NULL);
}

char *cell_gain(const json_t *row, const char *key)
{
	return field_is_known(row, key) ? format_gain(field_number(row, key)) : format_clean(NULL);
}

char *cell_duration(const json_t *row, const char *key)
{
	return format_duration(field_number(row, key));
}

char *cell_level(const json_t *row, const char *key)
{
	return format_level(field_text(row, key));
}

char *cell_user(const json_t *row, const char *key)
{
	return format_user(field_number(row, key));
}

/* In characters, not bytes; double-width ones are rare here. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* The number of bytes of the first characters of text. */
static size_t bytes_of(const char *text, size_t characters)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && !characters--)
			break;
	return i;
}

/* Finds the printed width of each column, and their distance. */
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

/* Prints rows one by one. */
static char **make_cells(const struct table *table, const json_t *rows, size_t n)
{
	char **cells = calloc(n, sizeof(*cells));

	if (!cells)
		abort();
	for (size_t i = 0; i < n; i++) {
		const struct table_column *column = &table->columns[i % table->n_columns];

		cells[i] = column->cell(json_array_get(rows, i / table->n_columns), column->key);
		cells[i] = cells[i] ? text_clean(cells[i]) : strdup("?");
		if (!cells[i])
			abort();
	}
	return cells;
}

bool table_print(const struct table *table, const json_t *rows, FILE *file)
{
	size_t n_columns = table->n_columns, n = json_array_size(rows) * n_columns;
	struct spacing spacing = { .gap = 2 };
	char **cells;

	assert(n_columns && n_columns <= TABLE_COLUMNS_MAX);
	if (!n)
		return false;
	cells = make_cells(table, rows, n);
	for (size_t i = 0; i < n_columns; i++)
		spacing.widths[i] = width_of(table->columns[i].title);
	for (size_t i = 0; i < n; i++) {
		size_t *width = &spacing.widths[i % n_columns];

		*width = width_of(cells[i]) > *width ? width_of(cells[i]) : *width;
	}
	fit(table, &spacing);

	fputs(style_bold(file), file);
	for (size_t i = 0; i < n_columns; i++)
		print_cell(table, &spacing, i, table->columns[i].title, file);
	fputs(style_plain(file), file);
	for (size_t i = 0; i < n; i++) {
		print_cell(table, &spacing, i % n_columns, cells[i], file);
		free(cells[i]);
	}
	free(cells);
	return true;
}
