// SPDX-License-Identifier: GPL-2.0-only
/* Two tasks that hand over by pipes from which they read by io_uring, or wait by libaio. */
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "chainload.h"

#define SQ_IDLE_MS 1

/* One request at a time. */
struct ring {
	int fd;
	struct io_uring_params params;
	struct io_uring_sqe *sqes;
	char *rings;
};

static uint32_t ring_flags;
static uint8_t sqe_flags;

static uint32_t *number(const struct ring *ring, uint32_t offset)
{
	return (uint32_t *)(void *)(ring->rings + offset);
}

static void ring_new(struct ring *ring)
{
	const int rights = PROT_READ | PROT_WRITE;

	ring->params.flags = ring_flags;
	ring->params.sq_thread_idle = SQ_IDLE_MS;
	ring->fd = syscall(__NR_io_uring_setup, 1, &ring->params);
	if (ring->fd < 0)
		chainload_skip("io_uring");
	ring->rings = mmap(NULL, 4096, rights, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
	ring->sqes = mmap(NULL, 4096, rights, MAP_SHARED, ring->fd, IORING_OFF_SQES);
}

static void submit(struct ring *ring, uint8_t opcode, int fd, char *message)
{
	uint32_t tail = *number(ring, ring->params.sq_off.tail);
	uint32_t *flags = number(ring, ring->params.sq_off.flags);
	bool polls = ring_flags & IORING_SETUP_SQPOLL;

	ring->sqes[0] = (struct io_uring_sqe){
		.opcode = opcode,
		.flags = sqe_flags,
		.fd = fd,
		.addr = (uintptr_t)message,
		.len = 1,
	};
	number(ring, ring->params.sq_off.array)[0] = 0;
	__atomic_store_n(number(ring, ring->params.sq_off.tail), tail + 1, __ATOMIC_SEQ_CST);
	if (!polls)
		syscall(__NR_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0);
	else if (__atomic_load_n(flags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
		syscall(__NR_io_uring_enter, ring->fd, 1, IORING_ENTER_SQ_WAKEUP, 0, NULL, 0);
}

static void reap(struct ring *ring)
{
	uint32_t *head = number(ring, ring->params.cq_off.head);

	while (*head == __atomic_load_n(number(ring, ring->params.cq_off.tail), __ATOMIC_ACQUIRE))
		syscall(__NR_io_uring_enter, ring->fd, 0, 1,
			IORING_ENTER_GETEVENTS | IORING_ENTER_SQ_WAKEUP, NULL, 0);
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
}

static void by_ring(uint32_t me)
{
	static __thread struct ring ring;
	static __thread char message;

	if (!ring.rings) {
		ring_new(&ring);
		if (!me)
			chainload_transfer(chainload_ends[0][1], &message, 1, true);
	}
	submit(&ring, IORING_OP_READ, chainload_ends[me][0], &message);
	reap(&ring);
	chainload_compute(CHAINLOAD_WORK);
	submit(&ring, IORING_OP_WRITE, chainload_ends[me][1], &message);
	reap(&ring);
}

/* A thread of the kernel sends the requests. */
static void prepare_polling(void)
{
	ring_flags = IORING_SETUP_SQPOLL;
	chainload_connect_pipes();
}

/* Workers of the kernel do them. */
static void prepare_workers(void)
{
	sqe_flags = IOSQE_ASYNC;
	chainload_connect_pipes();
}

static void by_aio(uint32_t me)
{
	static __thread aio_context_t context;
	struct iocb wait = { .aio_fildes = chainload_ends[me][0],
			     .aio_lio_opcode = IOCB_CMD_POLL,
			     .aio_buf = POLLIN },
		    *waits = &wait;
	struct io_event event;
	char message = 0;

	if (!context) {
		if (syscall(__NR_io_setup, 1, &context))
			chainload_skip("libaio");
		if (!me)
			chainload_transfer(chainload_ends[0][1], &message, 1, true);
	}
	if (syscall(__NR_io_submit, context, 1, &waits) != 1 ||
	    syscall(__NR_io_getevents, context, 1, 1, &event, NULL) != 1)
		exit(EXIT_FAILURE);
	chainload_transfer(chainload_ends[me][0], &message, 1, false);
	chainload_compute(CHAINLOAD_WORK);
	chainload_transfer(chainload_ends[me][1], &message, 1, true);
}

const struct chainload_mode chainload_rings[] = {
	{ "io_uring", by_ring, chainload_connect_pipes },
	{ "io_uring-sqpoll", by_ring, prepare_polling },
	{ "io_uring-workers", by_ring, prepare_workers },
	{ "aio-poll", by_aio, chainload_connect_pipes },
	{ NULL },
};
