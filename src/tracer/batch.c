// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/batch.h"

#include <bpf/bpf.h>
#include <errno.h>

/*
 * Returns how many entries the kernel accepted before the first failure, whose errno is in
 * *ret_error.
 */
static uint32_t send_some(const struct batch *batch, int fd, uint32_t from, int *ret_error)
{
	uint32_t n = batch->n - from;
	int r;

	if (batch->kind == BATCH_DELETE)
		r = bpf_map_delete_batch(fd, &batch->keys[from], &n, NULL);
	else
		r = bpf_map_update_batch(fd, &batch->keys[from], &batch->values[from], &n, NULL);
	*ret_error = r < 0 ? -errno : 0;
	return n;
}

void batch_flush(struct batch *batch, int fd)
{
	uint32_t from = 0;
	int error;

	while (from < batch->n) {
		from += send_some(batch, fd, from, &error);
		if (!error)
			break;
		if (error != -ENOENT && !batch->error)
			batch->error = error;
		from++; /* skip the entry that failed */
	}
	batch->n = 0;
}

void batch_add(struct batch *batch, int fd, enum batch_kind kind, uint32_t key, uint32_t value)
{
	if (batch->n == BATCH_SIZE || batch->kind != kind)
		batch_flush(batch, fd);
	batch->kind = kind;
	batch->keys[batch->n] = key;
	batch->values[batch->n++] = value;
}

int batch_send(struct batch *batch, int fd)
{
	int error;

	batch_flush(batch, fd);
	error = batch->error;
	batch->error = 0;
	return error;
}
