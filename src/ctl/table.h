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
};

/* n_columns is at most TABLE_COLUMNS_MAX. */
void table_init(struct table *table, const struct table_column *columns, size_t n_columns);
void table_deinit(struct table *table);

/*
 * Adds the next cell of the row, disarmed, and takes the string over; NULL stands for one that
 * could not be allocated and is shown as "?".
 */
void table_add(struct table *table, char *cell);

/* The same with a copy; NULL is shown as "-". */
void table_add_text(struct table *table, const char *text);

void table_print(const struct table *table, FILE *file);
