// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "freqload_work.h"

#ifdef HAVE_LIBURING
#include <liburing.h>

struct slot {
	void *buffer;
	uint64_t issued_ns;
};

static void submit(struct io_uring *ring, struct freqload_work *work, struct slot *slot)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct freqload_place place = work_random_place(work);

	io_uring_prep_read(sqe, place.fd, slot->buffer, FREQLOAD_BLOCK_BYTES,
			   (uint64_t)place.offset);
	io_uring_sqe_set_data(sqe, slot);
	slot->issued_ns = work_now_ns();
	io_uring_submit(ring);
}

/* Each completion costs its cycles before its slot is used again, as an application would. */
static int reap_one(struct io_uring *ring, struct freqload_work *work)
{
	struct io_uring_cqe *cqe;
	struct slot *slot;
	int r;

	r = io_uring_wait_cqe(ring, &cqe);
	if (r == -EINTR)
		return 0;
	if (r < 0)
		return r;

	slot = io_uring_cqe_get_data(cqe);
	r = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	if (r < 0)
		return r;

	work_finish_io(work, slot->issued_ns);
	submit(ring, work, slot);
	return 0;
}

/* The buffers are the kernel's until the last read is complete. */
static void drain(struct io_uring *ring, unsigned int in_flight)
{
	struct io_uring_cqe *cqe;

	while (in_flight > 0 && io_uring_wait_cqe(ring, &cqe) == 0) {
		io_uring_cqe_seen(ring, cqe);
		in_flight--;
	}
}

static int run(struct io_uring *ring, struct freqload_work *work, struct slot *slots, char *buffers)
{
	unsigned int i;
	int r = 0;

	for (i = 0; i < work->options->depth; i++) {
		slots[i].buffer = buffers + (size_t)i * FREQLOAD_BLOCK_BYTES;
		submit(ring, work, &slots[i]);
	}
	while (r >= 0 && work_now_ns() < work->end_ns)
		r = reap_one(ring, work);

	/* After an error one slot was not submitted again. */
	drain(ring, work->options->depth - (r < 0 ? 1 : 0));
	return r;
}

int work_io_uring(struct freqload_work *work)
{
	unsigned int depth = work->options->depth;
	struct io_uring ring;
	struct slot *slots;
	char *buffers;
	int r;

	slots = calloc(depth, sizeof(*slots));
	buffers = aligned_alloc(FREQLOAD_BLOCK_BYTES, (size_t)depth * FREQLOAD_BLOCK_BYTES);
	r = slots && buffers ? io_uring_queue_init(depth, &ring, 0) : -ENOMEM;
	if (r >= 0) {
		r = run(&ring, work, slots, buffers);
		io_uring_queue_exit(&ring);
	}
	free(buffers);
	free(slots);
	if (r < 0)
		fprintf(stderr, "freqload: io_uring: %s\n", strerror(-r));
	return r;
}

#else

int work_io_uring(struct freqload_work *work)
{
	fputs("freqload: io_uring: built without liburing, expected liburing-dev at build time\n",
	      stderr);
	return -EOPNOTSUPP;
}

#endif
