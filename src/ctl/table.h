/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Prints lists of objects as columns of text, each as wide as its widest cell. A column has a
 * function for the text of its cells.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 12
#define TABLE_CUT_LEAST	  4

struct table_column {
	const char *title;
	enum { TABLE_LEFT, TABLE_RIGHT } align;
	/*
	 * Returns an allocated string, which is cleaned; NULL, without memory, is shown as "?". key
	 * is that of the column.
	 */
	char *(*cell)(const json_t *row, const char *key);
	const char *key;
};

struct table {
	const struct table_column *columns;
	size_t n_columns; /* at most TABLE_COLUMNS_MAX */
	/*
	 * Width of a line: columns move together and, if that is not enough, one column's cells are
	 * cut, down to TABLE_CUT_LEAST characters. 0: no limit.
	 */
	size_t width;
	size_t cut_column;
};

/* The table of an array of columns that is as wide as it gets, for table_print(). */
#define TABLE(columns) (&(const struct table){ columns, ARRAY_SIZE(columns) })

/* Returns false, with nothing printed, when there are no rows. */
bool table_print(const struct table *table, const json_t *rows, FILE *file);

/* Cells of one field: "-" if it is missing, or if it is 0 and that means so. */
char *cell_text(const json_t *row, const char *key);
char *cell_number(const json_t *row, const char *key);
char *cell_frequency(const json_t *row, const char *key);
char *cell_mhz(const json_t *row, const char *key); /* without the unit */
char *cell_permille(const json_t *row, const char *key);
char *cell_gain(const json_t *row, const char *key);
char *cell_duration(const json_t *row, const char *key);
char *cell_level(const json_t *row, const char *key);
char *cell_user(const json_t *row, const char *key);
