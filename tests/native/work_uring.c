// SPDX-License-Identifier: GPL-2.0-only
/* io_uring by its system calls: no library of Debian 12 knows IORING_ENTER_NO_IOWAIT. */
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "work.h"

#define BLOCK_BYTES	4096
#define ENTER_NO_IOWAIT (1U << 7)
#define FEAT_NO_IOWAIT	(1U << 17)

struct ring {
	int fd;
	struct io_uring_params params;
	char *rings;
	struct io_uring_sqe *sqes;
	char *blocks;
	uint32_t sent;
};

static bool ring_new(struct ring *ring, uint32_t depth)
{
	size_t bytes;

	memset(ring, 0, sizeof(*ring));
	ring->fd = syscall(__NR_io_uring_setup, depth, &ring->params);
	if (ring->fd < 0)
		return false;
	bytes = ring->params.cq_off.cqes + ring->params.cq_entries * sizeof(struct io_uring_cqe);
	ring->rings = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
			   IORING_OFF_SQ_RING);
	ring->sqes = mmap(NULL, ring->params.sq_entries * sizeof(struct io_uring_sqe),
			  PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);
	ring->blocks = mmap(NULL, ring->params.sq_entries * BLOCK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return ring->rings != MAP_FAILED && ring->sqes != MAP_FAILED && ring->blocks != MAP_FAILED;
}

static uint32_t *number(const struct ring *ring, uint32_t offset)
{
	return (uint32_t *)(void *)(ring->rings + offset);
}

static void prepare(struct ring *ring, const struct work_uring *work)
{
	uint32_t tail = *number(ring, ring->params.sq_off.tail);
	uint32_t at = tail & (ring->params.sq_entries - 1);
	uint32_t place = ring->sent++ * 2654435761U % (WORK_FILE_BYTES / BLOCK_BYTES);

	ring->sqes[at] = (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.flags = work->by_workers ? IOSQE_ASYNC : 0,
		.fd = work->file,
		.addr = (uintptr_t)(ring->blocks + at * BLOCK_BYTES),
		.len = BLOCK_BYTES,
		.off = (uint64_t)place * BLOCK_BYTES,
	};
	number(ring, ring->params.sq_off.array)[at] = at;
	__atomic_store_n(number(ring, ring->params.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
}

/* How many have ended since the last call. */
static uint32_t reap(struct ring *ring)
{
	uint32_t *head = number(ring, ring->params.cq_off.head);
	uint32_t tail = __atomic_load_n(number(ring, ring->params.cq_off.tail), __ATOMIC_ACQUIRE);
	uint32_t n = tail - *head;

	__atomic_store_n(head, tail, __ATOMIC_RELEASE);
	return n;
}

bool work_uring_has_no_iowait(void)
{
	struct ring ring;
	bool has = ring_new(&ring, 1) && ring.params.features & FEAT_NO_IOWAIT;

	close(ring.fd);
	return has;
}

pid_t work_uring(const struct work_uring *work)
{
	uint32_t flags = IORING_ENTER_GETEVENTS | (work->no_iowait ? ENTER_NO_IOWAIT : 0);
	uint32_t in_flight = 0, n;
	struct ring ring;
	pid_t pid = work_start_on(work->name, work->cpu);

	if (pid)
		return pid;
	if (!ring_new(&ring, work->depth))
		_exit(EXIT_FAILURE);
	for (;;) {
		for (n = 0; in_flight + n < work->depth; n++)
			prepare(&ring, work);
		if (syscall(__NR_io_uring_enter, ring.fd, n, work->batches ? work->depth : 1, flags,
			    NULL, 0) != (long)n)
			_exit(EXIT_FAILURE);
		in_flight = in_flight + n - reap(&ring);
		if (work->compute_us)
			work_burn(work->compute_us);
	}
}
