/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Columns of text, each as wide as its widest cell; for output on a terminal. */

#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 12

struct table_column {
	const char *title;
	enum { TABLE_LEFT, TABLE_RIGHT } align;
};

struct table {
	const struct table_column *columns; /* borrowed */
	size_t n_columns;
	char **cells; /* row by row */
	size_t n_cells;
	size_t size;
	size_t width;	   /* of a line; 0: as wide as it gets */
	size_t cut_column; /* whose cells are cut for it */
};

/* n_columns is at most TABLE_COLUMNS_MAX. */
void table_init(struct table *table, const struct table_column *columns, size_t n_columns);
void table_deinit(struct table *table);

/*
 * Adds the next cell of the row, cleaned, and takes the string over; NULL stands for one that
 * could not be allocated and is shown as "?".
 */
void table_add(struct table *table, char *cell);

/* The same with a copy; NULL is shown as "-". */
void table_add_text(struct table *table, const char *text);

/*
 * Lines of at most that many characters: columns move together and, where that is not enough, cells
 * of one column lose their ends, down to TABLE_CUT_LEAST characters.
 */
#define TABLE_CUT_LEAST 4
void table_fit(struct table *table, size_t width, size_t cut_column);

void table_print(const struct table *table, FILE *file);
