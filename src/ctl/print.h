/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Replies as text for people: their fields, bold text, paragraphs with a title, and tables.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* words.c: words.json, filled with the fields of replies. */

/* What a path such as "domain.name" or "contenders.0" leads to; NULL: nothing. */
const json_t *field_at(const json_t *from, const char *path);
/*
 * A template filled with fields of the object `of`, or else of `more`. Allocated; NULL: a field
 * that it needs is not known, as in a reply of a daemon of another version.
 */
char *words_text(const char *template, const json_t *of, const json_t *more);
/* The same for the template or sentence of a group; also NULL: the group does not have the word. */
char *words_fill(const char *group, const char *word, const json_t *of, const json_t *more);
/* All of words.json, borrowed. */
json_t *words_all(void);

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
 * Bold text and colours are for terminals only, and not if the environment has NO_COLOR
 * (no-color.org) or the terminal is dumb.
 */
bool style_is_used(FILE *file);

/* The escape sequences that begin and end bold text, or "". */
const char *style_bold(FILE *file);
const char *style_plain(FILE *file);

/* The width of the terminal that the file is; most: it is none, or a wider one. */
size_t print_width(FILE *file, size_t most);

/*
 * Lines with a title in front, "policy     /etc/wakegov/…", broken at spaces to 80 columns, or to a
 * narrower terminal's. A title has at most PARAGRAPH_TITLE - 1 characters. The text is cleaned.
 */
#define PARAGRAPH_TITLE 11
void paragraph_print(FILE *file, const char *title, const char *text);
/*
 * A value as text, by the unit at the end of its key: "1800 MHz" of _khz, "9.5 ms" of _us, "61 %"
 * of _permille, "+46 %" of _gain_permille, "3.2" of _milli, "33 %" of _cap (a part of 1024), "9.4
 * W" of _milliwatts, degrees of _millidegrees, a time of day of realtime_us and monotonic_us. Texts
 * and other numbers stay as they are; a flag is "yes" or "no". A template may name a unit by ":":
 *
 *	:mhz  1800 of kHz		:left  a duration in whole seconds
 *	:mega  1.07 of a number		:percent1, :percent2  of permille and ppm, with decimals
 *	:level  "30 %" of "30%"		:own  a pid, and whether it is this command's
 *	:seconds  12.345 of us
 *	:n  as it is			:all  of an object: its members with their names
 *	:8  padded to 8 columns
 *
 * Allocated; NULL: it is no such value.
 */
char *value_text(const json_t *value, const char *unit);

/*
 * A list of objects as columns of text, each as wide as its widest cell. A column of numbers is
 * aligned to the right.
 */
#define TABLE_COLUMNS_MAX 12
#define TABLE_CUT_LEAST	  4
#define TABLE_LINE	  80 /* the width of tables that are kept to a terminal's */
#define TABLE_KEY_SIZE	  32

struct table {
	/*
	 * Of words.json. A column is its title, the template of its cells, and the key by which it
	 * is sorted and aligned, unless that is the template's first.
	 */
	const json_t *columns;
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

/* The table of this name in words.json, which must be there. */
struct table table_named(const char *name);
const char *table_title(const struct table *table, size_t column);
void table_key(const struct table *table, size_t column, char ret[static TABLE_KEY_SIZE]);

/* Returns false, with nothing printed, when there are no rows. */
bool table_print(const struct table *table, const json_t *rows, FILE *file);

/* The lines of the table for a line of this width, the title first; the caller frees each. */
char **table_lines(const struct table *table, const json_t *rows, size_t width);

/* view.c: prints the lines of a view of words.json. */
void view_print(FILE *file, const char *view, const json_t *reply);

/*
 * Quantities, moments and names: parsed from the command line, where quantities are written as in
 * wakegov.conf(5), and formatted for people.
 */

/* Parsers. False: it is none. */

/* Digits only. */
bool quantity_number(const char *text, uint64_t *ret);

/* "1.2GHz", "800MHz", "800000kHz"; the unit is needed. */
bool quantity_frequency(const char *text, uint64_t *ret_khz);

/* "200ms", "30s", "1h30m", "2d"; the unit is needed. */
bool quantity_duration_us(const char *text, uint64_t *ret_us);

/* "40%", up to 100. */
bool quantity_share(const char *text, uint64_t *ret_percent);

/* A moment on both clocks. */
struct moment {
	uint64_t monotonic_us; /* 0: before the boot */
	uint64_t realtime_us;
};

struct moment moment_now(void);

/*
 * "14:03", "14:03:07" or "14:03:07.042": the latest moment at that time of day; "2026-11-20 14:03":
 * the moment of that day; or "1h30m": so long ago, given what both clocks show now. Returns 0,
 * -ERANGE for what is still to come or was before 1970, and -EINVAL for anything else.
 */
int moment_parse(const char *text, const struct moment *now, struct moment *ret);

/*
 * Formatters. Each returns an allocated string that the caller frees, or NULL for lack of memory.
 * Where 0 means "not known" the string is "-".
 */

char *format_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "1800 MHz"; 0 is not known. */
char *format_frequency(uint64_t khz);

/* At most two units: "250 us", "9.5 ms", "1.2 s", "3 min 12 s", "3 h 12 min", "5 d 3 h". */
char *format_duration(uint64_t us);
/* Rounded to the second, so that a time that has just begun shows 10 min and not 9 min 59 s. */
char *format_left(uint64_t us);

/* "512 KiB", "2.1 MiB" */
char *format_size(uint64_t kib);

/* A cap or a floor as in a policy: "30%", "none", or a frequency as above. NULL gives "-". */
char *format_level(const char *level);

/*
 * A moment on CLOCK_MONOTONIC as time of day, "14:03:07.042", given what both clocks show now. That
 * clock stops while the machine sleeps, so moments before a sleep appear too late.
 */
char *format_time(uint64_t monotonic_us, const struct moment *now);

/* A moment on CLOCK_REALTIME, with its day: "11-20 14:03:07.042". */
char *format_wall_time(uint64_t realtime_us);

/* ", this command" of the process that asks, whose work may be the cause; else "". */
const char *format_own(uint64_t pid);

/* A copy of foreign text that is safe for a terminal (shared/text.h). NULL gives "-". */
char *format_clean(const char *text);

/* The same for JSON, which must be UTF-8: an argument, or a name in a recording. */
json_t *format_json(const char *text);
