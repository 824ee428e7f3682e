// SPDX-License-Identifier: GPL-2.0-only
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

char *cell_text(const json_t *row, const char *key)
{
	return format_clean(field_text(row, key));
}

char *cell_number(const json_t *row, const char *key)
{
	if (!field_is_known(row, key))
		return format_clean(NULL);
	return format_print("%" PRIu64, field_number(row, key));
}

char *cell_frequency(const json_t *row, const char *key)
{
	return format_frequency(field_number(row, key));
}

char *cell_mhz(const json_t *row, const char *key)
{
	uint64_t khz = field_number(row, key);

	return khz ? format_print("%" PRIu64, (khz + 500) / 1000) : format_clean(NULL);
}

char *cell_share(const json_t *row, const char *key)
{
	return format_print("%" PRIu64 " %%", (field_number(row, key) * 100 + 512) / 1024);
}

char *cell_permille(const json_t *row, const char *key)
{
	if (!field_is_known(row, key))
		return format_clean(NULL);
	return format_print("%u %%", field_percent(row, key));
}

char *cell_thousandths(const json_t *row, const char *key)
{
	if (!field_is_known(row, key))
		return format_clean(NULL);
	return format_print("%.1f", (double)field_number(row, key) / 1000);
}

char *cell_gain(const json_t *row, const char *key)
{
	if (!field_is_known(row, key))
		return format_clean(NULL);
	return format_print("+%u %%", field_percent(row, key));
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
	int gap;
	bool is_split; /* the last column is on a line of its own */
};

#define SPLIT_INDENT 2

static void print_cell(const struct table *table, const struct spacing *spacing, size_t column,
		       const char *text, FILE *file)
{
	size_t width = spacing->widths[column], used = width_of(text), characters = 0;
	bool is_own = spacing->is_split && column + 1 == table->n_columns;
	bool is_last = column + 1 + (spacing->is_split && !is_own) == table->n_columns;
	int bytes = 0;
	int padding = used < width ? (int)(width - used) : 0;

	/* Cut after a whole character. */
	for (; text[bytes]; bytes++)
		if (((unsigned char)text[bytes] & 0xc0) != 0x80 && ++characters > width)
			break;
	if (is_own)
		fprintf(file, "%*s%.*s", SPLIT_INDENT, "", bytes, text);
	else if (table->columns[column].align == TABLE_RIGHT)
		fprintf(file, "%*s%.*s", padding, "", bytes, text);
	else
		fprintf(file, "%.*s%*s", bytes, text, is_last ? 0 : padding, "");
	fprintf(file, "%*s%s", is_last ? 0 : spacing->gap, "", is_last ? "\n" : "");
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

bool table_print(const struct table *table, const json_t *rows, FILE *file)
{
	size_t n_columns = table->n_columns, n = json_array_size(rows) * n_columns;
	_cleanup_free_ char **cells = calloc(n + 1, sizeof(*cells));
	struct spacing spacing = { .gap = 2 };

	assert(n_columns && n_columns <= TABLE_COLUMNS_MAX);
	if (!n)
		return false;
	if (!cells)
		abort();
	for (size_t i = 0; i < n_columns; i++)
		spacing.widths[i] = width_of(table->columns[i].title);
	/* The texts of all rows, one row behind the other. */
	for (size_t i = 0; i < n; i++) {
		const struct table_column *column = &table->columns[i % n_columns];
		size_t *width = &spacing.widths[i % n_columns], used;

		cells[i] = column->cell(json_array_get(rows, i / n_columns), column->key);
		cells[i] = cells[i] ? text_clean(cells[i]) : strdup("?");
		if (!cells[i])
			abort();
		used = width_of(cells[i]);
		*width = used > *width ? used : *width;
	}
	fit(table, &spacing, line_width(file, table->width ?: SIZE_MAX));

	fputs(style_bold(file), file);
	for (size_t i = 0; i < n_columns; i++)
		print_cell(table, &spacing, i, table->columns[i].title, file);
	fputs(style_plain(file), file);
	for (size_t i = 0; i < n; i++) {
		print_cell(table, &spacing, i % n_columns, cells[i], file);
		free(cells[i]);
	}
	return true;
}
