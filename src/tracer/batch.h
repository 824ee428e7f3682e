/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Writes to one hash map with 32-bit keys and values, sent many per system call and in order. No
 * entry is in the map before batch_send() returns.
 */

#include <stdint.h>

#define BATCH_SIZE 256

enum batch_kind {
	BATCH_SET, /* insert or replace */
	BATCH_DELETE,
};

struct batch {
	enum batch_kind kind; /* of all its entries */
	uint32_t n;
	uint32_t keys[BATCH_SIZE];
	uint32_t values[BATCH_SIZE];
	int error; /* the first error since the last batch_send() */
};

/*
 * Adds an entry. Sends the batch first if it is full or of another kind. fd is the map's, always
 * the same.
 */
void batch_add(struct batch *batch, int fd, enum batch_kind kind, uint32_t key, uint32_t value);

/* Sends the batch; the next batch_send() returns its errors. */
void batch_flush(struct batch *batch, int fd);

/*
 * Sends the batch. Returns 0, or the negative errno of the first entry that failed since the last
 * call; the others were written. Deleting an entry that is not there is no failure.
 */
int batch_send(struct batch *batch, int fd);
