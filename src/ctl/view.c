// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables and views of words.json: a view prints a reply as lines, paragraphs and tables. A table's
 * cell is a template; its columns are as wide as they have to be, and as narrow as the terminal is.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/print.h"
#include "shared/cleanup.h"

struct table table_named(const char *name)
{
	const json_t *table = json_object_get(json_object_get(words_all(), "tables"), name);
	const json_t *columns = json_object_get(table, "columns");

	assert(json_array_size(columns) && json_array_size(columns) <= TABLE_COLUMNS_MAX);
	return (struct table){ columns, json_array_size(columns), field_number(table, "width"),
			       field_number(table, "cut") };
}

/* Its title is 0, its template 1, its key 2. */
static const char *column_text(const struct table *table, size_t column, size_t i)
{
	return json_string_value(json_array_get(json_array_get(table->columns, column), i));
}

const char *table_title(const struct table *table, size_t column)
{
	return column_text(table, column, 0);
}

void table_key(const struct table *table, size_t column, char ret[static TABLE_KEY_SIZE])
{
	const char *template = column_text(table, column, 1), *key = column_text(table, column, 2);

	for (; !key && *template; template ++)
		if (template[0] == '{' && isalpha((unsigned char)template[1]))
			key = template + 1;
	snprintf(ret, TABLE_KEY_SIZE, "%.*s", key ? (int)strcspn(key, "}:>@") : 0, key ?: "");
}

/* In characters, not bytes; double-width ones are rare here. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* The printed width of each column, and their distance. */
struct spacing {
	size_t widths[TABLE_COLUMNS_MAX];
	bool is_right[TABLE_COLUMNS_MAX];
	int gap;
	bool is_split; /* the last column is on a line of its own */
};

#define SPLIT_INDENT 2

static void print_cell(const struct table *table, const struct spacing *spacing, size_t column,
		       const char *text, FILE *file)
{
	size_t width = spacing->widths[column], used = width_of(text), characters = 0;
	bool is_own = spacing->is_split && column + 1 == table->n_columns;
	bool is_last = column + 1 == table->n_columns;
	int bytes = 0, padding = used < width ? (int)(width - used) : 0;

	/* Cut after a whole character. */
	for (; text[bytes]; bytes++)
		if (((unsigned char)text[bytes] & 0xc0) != 0x80 && ++characters > width)
			break;
	if (is_own)
		fprintf(file, "\n%*s%.*s", SPLIT_INDENT, "", bytes, text);
	else if (spacing->is_right[column])
		fprintf(file, "%*s%*s%.*s", column ? spacing->gap : 0, "", padding, "", bytes,
			text);
	else
		fprintf(file, "%*s%.*s%*s", column ? spacing->gap : 0, "", bytes, text,
			is_last || (spacing->is_split && column + 2 == table->n_columns) ? 0
											 : padding,
			"");
}

/*
 * Moves the columns together if lines are too long. If that is not enough, cuts the ends of one
 * column, if the table says which, and then gives the last one lines of its own.
 */
static void fit(const struct table *table, struct spacing *spacing, size_t line)
{
	size_t *cut = &spacing->widths[table->cut_column], between = table->n_columns - 1;
	size_t width = 0;

	for (size_t i = 0; i < table->n_columns; i++)
		width += spacing->widths[i];
	if (width + between * (size_t)spacing->gap <= line)
		return;
	spacing->gap = 1;
	for (; table->width && width + between > line && *cut > TABLE_CUT_LEAST; width--)
		--*cut;
	spacing->is_split = width + between > line && between && line < (table->width ?: SIZE_MAX);
}

static bool is_right(const struct table *table, size_t column, const json_t *rows)
{
	char key[TABLE_KEY_SIZE];
	const json_t *row;
	size_t i;

	table_key(table, column, key);
	json_array_foreach(rows, i, row)
		if (json_is_number(field_at(row, key)))
			return true;
	return false;
}

/* The title's cells and then those of all rows, one row behind the other. */
static char **find_cells(const struct table *table, const json_t *rows, struct spacing *spacing)
{
	size_t n_columns = table->n_columns, n = (json_array_size(rows) + 1) * n_columns;
	char **cells = calloc(n, sizeof(*cells));

	for (size_t i = 0; cells && i < n; i++) {
		size_t column = i % n_columns, *width = &spacing->widths[column];
		const json_t *row = json_array_get(rows, i / n_columns - 1);

		cells[i] = i < n_columns ? strdup(table_title(table, column))
					 : words_text(column_text(table, column, 1), row, NULL);
		cells[i] = cells[i] ?: strdup("-");
		if (!cells[i])
			abort();
		*width = width_of(cells[i]) > *width ? width_of(cells[i]) : *width;
	}
	return cells;
}

char **table_lines(const struct table *table, const json_t *rows, size_t width)
{
	size_t n_columns = table->n_columns, n_lines = json_array_size(rows) + 1, size;
	char **lines = calloc(n_lines, sizeof(*lines));
	struct spacing spacing = { .gap = 2 };
	_cleanup_free_ char **cells = find_cells(table, rows, &spacing);

	if (!cells || !lines)
		abort();
	for (size_t i = 0; i < n_columns; i++)
		spacing.is_right[i] = is_right(table, i, rows);
	fit(table, &spacing, width);
	for (size_t i = 0; i < n_lines; i++) {
		FILE *file = open_memstream(&lines[i], &size);

		if (!file)
			abort();
		for (size_t j = 0; j < n_columns; j++) {
			print_cell(table, &spacing, j, cells[i * n_columns + j], file);
			free(cells[i * n_columns + j]);
		}
		fclose(file);
	}
	return lines;
}

bool table_print(const struct table *table, const json_t *rows, FILE *file)
{
	size_t n = json_array_size(rows);
	_cleanup_free_ char **lines = NULL;

	if (!n)
		return false;
	lines = table_lines(table, rows, print_width(file, table->width ?: SIZE_MAX));
	for (size_t i = 0; i <= n; i++) {
		fprintf(file, "%s%s%s\n", i ? "" : style_bold(file), lines[i],
			i ? "" : style_plain(file));
		free(lines[i]);
	}
	return true;
}

/* A title makes the line a paragraph; a line of a template that is empty is left out. */
static void print_one(FILE *file, const char *title, const char *template, const json_t *of,
		      const json_t *more)
{
	bool is_bold = *template == '*';
	_cleanup_free_ char *line = words_text(template + is_bold, of, more);

	if (!line || (!*line && *template))
		return;
	if (title) {
		_cleanup_free_ char *own = words_text(title, of, more);

		paragraph_print(file, own ?: "-", line);
		return;
	}
	fprintf(file, "%s%s%s\n", is_bold ? style_bold(file) : "", line,
		is_bold ? style_plain(file) : "");
}

static void print_table(FILE *file, const json_t *line, const json_t *reply)
{
	const json_t *rows = field_at(reply, field_text(line, "rows"));
	const char *title = field_text(line, "title"), *none = field_text(line, "none");
	struct table table = table_named(field_text(line, "table"));

	if (title && json_array_size(rows))
		fprintf(file, "%s\n", title);
	if (!table_print(&table, rows, file) && none)
		print_one(file, NULL, none, reply, NULL);
}

/* The view of an object, or of each of an array, with an empty line between if they are apart. */
static void print_views(FILE *file, const json_t *line, const json_t *of)
{
	const json_t *one;
	size_t i;

	if (!json_is_array(of))
		view_print(file, field_text(line, "view"), of);
	json_array_foreach(of, i, one) {
		if (i && field_flag(line, "apart"))
			fputc('\n', file);
		view_print(file, field_text(line, "view"), one);
	}
}

/*
 * A line is a template; or a title, which may be null, a template, and the path of those for which
 * it is printed; or a table; or a view of a part of the reply.
 */
static void print_line_of(FILE *file, const json_t *line, const json_t *reply)
{
	const char *title = json_string_value(json_array_get(line, 0));
	const char *template = json_string_value(json_array_get(line, 1));
	const char *path = json_string_value(json_array_get(line, 2));
	const json_t *value = path ? field_at(reply, path) : reply, *one;
	size_t i;

	if (json_is_string(line))
		print_one(file, NULL, json_string_value(line), reply, NULL);
	else if (field_text(line, "table"))
		print_table(file, line, reply);
	else if (field_text(line, "view"))
		print_views(file, line, field_at(reply, field_text(line, "of")));
	else if (json_is_array(value))
		json_array_foreach(value, i, one)
			print_one(file, title, template, one, reply);
	else if (json_is_object(value))
		print_one(file, title, template, value, reply);
}

void view_print(FILE *file, const char *view, const json_t *reply)
{
	const json_t *line;
	size_t i;

	if (json_is_object(reply))
		json_array_foreach(json_object_get(json_object_get(words_all(), "views"), view), i,
				   line)
			print_line_of(file, line, reply);
}
