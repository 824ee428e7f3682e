/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Entries of one hash map of 32-bit keys and values on their way to the kernel, many a call. In the
 * order in which they were added; nothing has arrived before batch_send().
 */

#include <stdint.h>

#define BATCH_SIZE 256

enum batch_kind {
	BATCH_SET, /* there or not */
	BATCH_DELETE,
};

struct batch {
	enum batch_kind kind; /* of all that are in it */
	uint32_t n;
	uint32_t keys[BATCH_SIZE];
	uint32_t values[BATCH_SIZE];
	int error; /* the first since the last batch_send() */
};

/* Sends what is there when it is full or of another kind. fd: of the map, always the same one. */
void batch_add(struct batch *batch, int fd, enum batch_kind kind, uint32_t key, uint32_t value);

/* Sends what is there. What could not be taken is told by the next batch_send(). */
void batch_flush(struct batch *batch, int fd);

/*
 * Sends what is there. Returns 0, or the negative errno of the first entry since the last call that
 * could not be taken; the others were. That one to delete is not there is no failure.
 */
int batch_send(struct batch *batch, int fd);
