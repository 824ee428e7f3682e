// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints replies as text: fields, paragraphs, and tables whose columns are formatted by the unit
 * in the key's name.
 */
#include "ctl/print.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl/format.h"
#include "shared/cleanup.h"
#include "shared/text.h"

__attribute__((format(printf, 2, 0))) static void print_clean(FILE *file, const char *format,
							      va_list args)
{
	_cleanup_free_ char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	else
		fputs(text_clean(text), file);
}

void print_part(FILE *file, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_clean(file, format, args);
	va_end(args);
}

void print_line(FILE *file, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_clean(file, format, args);
	va_end(args);
	fputc('\n', file);
}

bool field_is_word(const json_t *object, const char *key, const char *word)
{
	const char *text = field_text(object, key);

	return text && !strcmp(text, word);
}

bool style_is_used(FILE *file)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return fileno(file) >= 0 && isatty(fileno(file)) && !(no_color && *no_color) && terminal &&
	       *terminal && strcmp(terminal, "dumb") != 0;
}

const char *style_bold(FILE *file)
{
	return style_is_used(file) ? "\033[1m" : "";
}

const char *style_plain(FILE *file)
{
	return style_is_used(file) ? "\033[0m" : "";
}

/* The width of the terminal that the file is; most: it is none, or a wider one. */
static size_t line_width(FILE *file, size_t most)
{
	struct winsize size;

	if (fileno(file) < 0 || ioctl(fileno(file), TIOCGWINSZ, &size) < 0 || !size.ws_col ||
	    size.ws_col > most)
		return most;
	return size.ws_col;
}

/* How many bytes fit into so many columns, up to a space if there is one. */
static int length_of_line(const char *text, int columns)
{
	int width = 0, fits = 0;

	for (int i = 0; text[i]; i++) {
		if (text[i] == ' ' && width <= columns)
			fits = i;
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	}
	if (width <= columns)
		return (int)strlen(text);
	return fits ? fits : (int)strcspn(text, " ");
}

void paragraph_print(FILE *file, const char *title, const char *text)
{
	_cleanup_free_ char *clean = format_clean(text);
	const char *rest = clean ? clean : "?";
	int columns = (int)line_width(file, TABLE_LINE) - PARAGRAPH_TITLE;

	while (*rest) {
		int length = length_of_line(rest, columns);

		fprintf(file, "%-*s%.*s\n", PARAGRAPH_TITLE, title, length, rest);
		title = "";
		rest += length;
		rest += strspn(rest, " ");
	}
}

void paragraph_printf(FILE *file, const char *title, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&text, format, args);
	va_end(args);
	paragraph_print(file, title, r < 0 ? "?" : text);
}

static const struct unit {
	const char *end;		/* of the key; the first that fits counts */
	char *(*show)(uint64_t number); /* NULL: as follows */
	const char *before, *after;
	double divisor;
	int decimals;
} units[] = {
	{ "khz", format_frequency },
	{ "_us", format_duration },
	{ "_kib", format_size },
	{ "_gain_permille", NULL, "+", " %", 10, 0 },
	{ "_permille", NULL, "", " %", 10, 0 },
	{ "_milli", NULL, "", "", 1000, 1 },
	{ "_millidegrees", NULL, "", " °C", 1000, 1 },
	{ "_milliwatts", NULL, "", " W", 1000, 1 },
	{ "_cap", NULL, "", " %", 10.24, 0 },
	{ "", NULL, "", "", 1, 0 },
};

static const struct unit *unit_of(const char *key)
{
	const struct unit *unit = units;
	size_t length = strlen(key);

	while (length < strlen(unit->end) || strcmp(key + length - strlen(unit->end), unit->end))
		unit++;
	return unit;
}

char *cell_value(const json_t *row, const char *key)
{
	const struct unit *unit = unit_of(key);
	const json_t *value = json_object_get(row, key);

	if (json_is_boolean(value))
		return format_print("%s", json_is_true(value) ? "yes" : "no");
	if (!json_is_integer(value))
		return format_clean(json_string_length(value) ? json_string_value(value) : NULL);
	if (unit->show)
		return unit->show(field_number(row, key));
	/* Halves round up. */
	return format_print("%s%.*f%s", unit->before, unit->decimals,
			    (double)field_number(row, key) / unit->divisor + 1e-9, unit->after);
}

char *cell_title(const char *key)
{
	char *title = strndup(key, strlen(key) - strlen(unit_of(key)->end));

	for (char *c = title; c && *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return title;
}

char *cell_mhz(const json_t *row, const char *key)
{
	uint64_t khz = field_number(row, key);

	return khz ? format_print("%" PRIu64, (khz + 500) / 1000) : format_clean(NULL);
}

char *cell_duration(const json_t *row, const char *key)
{
	return format_duration(field_number(row, key));
}

char *cell_level(const json_t *row, const char *key)
{
	return format_level(field_text(row, key));
}

char *cell_time(const json_t *row, const char *key)
{
	struct moment now = moment_now();

	if (field_is_known(row, "realtime_us"))
		return format_wall_time(field_number(row, "realtime_us"));
	return format_time(field_number(row, key), &now);
}

char *cell_reason(const json_t *row, const char *key)
{
	return format_reason(field_text(row, "reason"), field_text(row, "comm"),
			     field_number(row, "pid"), field_text(row, "limiter"),
			     field_text(row, "timing"));
}

char *cell_task(const json_t *row, const char *key)
{
	return format_task(field_text(row, "comm"), field_number(row, "pid"));
}

char *cell_user(const json_t *row, const char *key)
{
	uint64_t uid = field_number(row, key);

	return uid ? format_print("user %" PRIu64, uid) : format_print("root");
}

char *cell_place(const json_t *rule, const char *key)
{
	const char *file = field_text(rule, key);

	if (file && file[0])
		return format_print("%s:%" PRIu64, file, field_number(rule, "line"));
	/* Its name in a list of rules, or of tasks with their rules. */
	return format_print(
		strncmp(field_text(rule, "name") ?: field_shown(rule, "rule"), "hint/", 5)
			? "an override"
			: "a hint");
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

bool table_is_right(const struct table_column *column, const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (column->key && json_is_number(json_object_get(row, column->key)))
			return true;
	return false;
}

/* The title's cells and then those of all rows, one row behind the other. */
static char **find_cells(const struct table *table, const json_t *rows, struct spacing *spacing)
{
	size_t n_columns = table->n_columns, n = (json_array_size(rows) + 1) * n_columns;
	char **cells = calloc(n, sizeof(*cells));

	for (size_t i = 0; cells && i < n; i++) {
		const struct table_column *column = &table->columns[i % n_columns];
		const json_t *row = json_array_get(rows, i / n_columns - 1);
		char *text = i < n_columns ? strdup(column->title)
					   : (column->cell ?: cell_value)(row, column->key);
		size_t *width = &spacing->widths[i % n_columns];

		cells[i] = text ? text_clean(text) : strdup("?");
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

	assert(n_columns && n_columns <= TABLE_COLUMNS_MAX);
	if (!cells || !lines)
		abort();
	for (size_t i = 0; i < n_columns; i++)
		spacing.is_right[i] = table_is_right(&table->columns[i], rows);
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
	lines = table_lines(table, rows, line_width(file, table->width ?: SIZE_MAX));
	for (size_t i = 0; i <= n; i++) {
		fprintf(file, "%s%s%s\n", i ? "" : style_bold(file), lines[i],
			i ? "" : style_plain(file));
		free(lines[i]);
	}
	return true;
}
