/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Replies as text for people: their fields, bold text, paragraphs with a title, and tables.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A field of an object: NULL, or 0, where it is missing, null or something else. */
static inline const char *field_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static inline uint64_t field_number(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}

/* A number of thousandths, in percent. */
static inline unsigned int field_percent(const json_t *object, const char *key)
{
	return (unsigned int)((field_number(object, key) + 5) / 10);
}

/* Whether it is there and a number, which may be 0. */
static inline bool field_is_known(const json_t *object, const char *key)
{
	return json_is_integer(json_object_get(object, key));
}

/* Whether it is true. */
static inline bool field_flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* Whether it is this word. */
bool field_is_word(const json_t *object, const char *key, const char *word);

/* A text as it is shown: "-" where it is missing. */
static inline const char *field_shown(const json_t *object, const char *key)
{
	return field_text(object, key) ?: "-";
}

/*
 * As fprintf(), with the text cleaned, as names in it are foreign (shared/text.h). print_line()
 * ends the line.
 */
void print_part(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void print_line(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Bold text and colours are for terminals only, and not if the environment has NO_COLOR
 * (no-color.org) or the terminal is dumb.
 */
bool style_is_used(FILE *file);

/* The escape sequences that begin and end bold text, or "". */
const char *style_bold(FILE *file);
const char *style_plain(FILE *file);

/*
 * Lines with a title in front, "policy     /etc/wakegov/…", broken at spaces to 80 columns, or to a
 * narrower terminal's. title
 * is at most PARAGRAPH_TITLE - 1 characters; text is cleaned on its way.
 */
#define PARAGRAPH_TITLE 11
void paragraph_print(FILE *file, const char *title, const char *text);
void paragraph_printf(FILE *file, const char *title, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The text of a field by the unit in its key: "1800 MHz" of _khz, "9.5 ms" of _us, "61 %" of
 * _permille, "+46 %" of _gain_permille, "3.2" of _milli, "33 %" of _cap (a part of 1024), "61.4 °C"
 * of _millidegrees, "9.4 W" of _milliwatts; texts and other numbers as they are, "yes" or "no", and
 * "-" where it is missing. Allocated.
 */
char *cell_value(const json_t *row, const char *key);
/* The key without its unit, with spaces: "temperature". Allocated. */
char *cell_title(const char *key);

/* Those with more to them than a unit. */
char *cell_duration(const json_t *row, const char *key);
char *cell_mhz(const json_t *row, const char *key); /* the unit is in the title */
char *cell_level(const json_t *row, const char *key);
/* A moment on CLOCK_MONOTONIC, or "realtime_us" of the row where that is known. */
char *cell_time(const json_t *row, const char *key);
/* format_reason() and format_task() of a domain, a decision or an event. */
char *cell_reason(const json_t *row, const char *key);
char *cell_task(const json_t *row, const char *key);
/* "root", "user 1000": other names are not looked up, which could take long. */
char *cell_user(const json_t *row, const char *key);
/* Where a rule stands: "wakegov.conf:12", "a hint" or "an override". */
char *cell_place(const json_t *rule, const char *key);

/*
 * A list of objects as columns of text, each as wide as its widest cell. A column of numbers is
 * aligned to the right.
 */
#define TABLE_COLUMNS_MAX 12
#define TABLE_CUT_LEAST	  4
#define TABLE_LINE	  80 /* the width of tables that are kept to a terminal's */

struct table_column {
	const char *title;
	const char *key;
	/* Returns an allocated string, which is cleaned; "?" without memory. NULL: cell_value(). */
	char *(*cell)(const json_t *row, const char *key);
};

struct table {
	const struct table_column *columns;
	size_t n_columns; /* at most TABLE_COLUMNS_MAX */
	/*
	 * Width of a line, if the terminal is not narrower: columns move together and, if that is
	 * not enough, one column's cells are cut, down to TABLE_CUT_LEAST characters. 0: the
	 * terminal's alone, and no cell is cut. In a terminal that is still too narrow, each last
	 * cell has a line of its own.
	 */
	size_t width;
	size_t cut_column;
};

/* The table of an array of columns that is as wide as it gets, for table_print(). */
#define TABLE(columns) (&(const struct table){ columns, ARRAY_SIZE(columns) })

/* Returns false, with nothing printed, when there are no rows. */
bool table_print(const struct table *table, const json_t *rows, FILE *file);

/* The lines of the table for a line of this width, the title first; the caller frees each. */
char **table_lines(const struct table *table, const json_t *rows, size_t width);

/* Whether the column's cells are numbers. */
bool table_is_right(const struct table_column *column, const json_t *rows);
