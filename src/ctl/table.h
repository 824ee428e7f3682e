/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Lists of objects as columns of text, each as wide as its widest cell. A column says where the
 * text of a cell comes from.
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
	 * An allocated string, which is cleaned; NULL, for lack of memory, is shown as "?". The key
	 * is the one below.
	 */
	char *(*cell)(const json_t *row, const char *key);
	const char *key;
};

struct table {
	const struct table_column *columns;
	size_t n_columns; /* at most TABLE_COLUMNS_MAX */
	/*
	 * Of a line: columns move together and, where that is not enough, the cells of one lose
	 * their ends, down to TABLE_CUT_LEAST characters. 0: as wide as it gets.
	 */
	size_t width;
	size_t cut_column;
};

/* Returns false, having printed nothing, when there are no rows. */
bool table_print(const struct table *table, const json_t *rows, FILE *file);

/* Cells of one field: "-" where it is missing, or where 0 stands for that. */
char *cell_text(const json_t *row, const char *key);
char *cell_number(const json_t *row, const char *key);
char *cell_frequency(const json_t *row, const char *key);
char *cell_mhz(const json_t *row, const char *key); /* without the unit */
char *cell_permille(const json_t *row, const char *key);
char *cell_gain(const json_t *row, const char *key);
char *cell_duration(const json_t *row, const char *key);
char *cell_level(const json_t *row, const char *key);
