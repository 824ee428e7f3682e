// SPDX-License-Identifier: GPL-2.0-only
#include "fake-io.h"

#define PART_ONE (1ULL << 20)

static uint64_t host_ns(const struct fake_io *io, uint32_t level)
{
	return io->work / level;
}

uint64_t fake_io_ns(const struct fake_io *io, uint32_t level, uint32_t interrupt_level)
{
	if (io->kind == FAKE_IO_PACED || io->kind == FAKE_IO_DEEP)
		return io->device_ns;
	return io->device_ns + host_ns(io, level) + io->interrupt_work / interrupt_level +
	       io->think_ns;
}

static uint64_t next_random(struct fake_io *io)
{
	io->random ^= io->random >> 12;
	io->random ^= io->random << 25;
	io->random ^= io->random >> 27;
	return io->random * 2685821657736338717ULL;
}

static uint64_t square_root(uint64_t x)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ULL << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= x)
			root |= bit;
	return root;
}

/*
 * n I/Os of independent times vary by √n times what one does. Evenly spread numbers of that
 * deviation reach √3 of it to both sides.
 */
static int64_t vary(struct fake_io *io, uint64_t parts)
{
	uint64_t reach = square_root(3 * parts * PART_ONE) * io->variation_percent / 100;

	if (!reach)
		return 0;
	return (int64_t)(next_random(io) % (2 * reach + 1)) - (int64_t)reach;
}

uint64_t fake_io_run(struct fake_io *io, uint32_t level, uint32_t interrupt_level,
		     uint64_t elapsed_ns, uint64_t now_ns)
{
	uint64_t each_ns, parts, n;
	int64_t varied;

	if (io->kind == FAKE_IO_NONE || io->stopped || !elapsed_ns)
		return 0;
	each_ns = fake_io_ns(io, level, interrupt_level);
	parts = elapsed_ns * PART_ONE / each_ns;
	varied = (int64_t)(io->part + parts) + vary(io, parts);
	parts = varied > 0 ? varied : 0;
	n = parts / PART_ONE;
	io->part = parts % PART_ONE;

	io->io_starts += n;
	if (io->kind == FAKE_IO_DEEP) /* a wait for each eight or so */
		io->io_waits = io->io_starts / 8;
	else if (!io->asynchronous)
		io->io_waits += n;
	if (n)
		io->last_io_ns = now_ns - io->part * each_ns / PART_ONE;
	if (io->kind == FAKE_IO_DEEP) {
		io->worked_ns += elapsed_ns / 4;
		io->in_flight_ns += FAKE_IO_DEEP_DEPTH * elapsed_ns;
		return n;
	}
	io->worked_ns += n * host_ns(io, level);
	io->in_flight_ns += n * (each_ns - host_ns(io, level) - io->think_ns);
	return n;
}

void fake_io_totals(const struct fake_io *io, struct input_task *ret)
{
	bool blocks = io->kind != FAKE_IO_NONE && io->kind != FAKE_IO_COUNTED;

	ret->io_waits = io->io_waits;
	ret->last_io_ns = io->last_io_ns;
	ret->n_ios = blocks;
	if (!blocks)
		return;
	ret->io_starts = io->io_starts;
	ret->worked_ns = io->worked_ns;
	ret->in_flight_ns = io->in_flight_ns;
	ret->ios[0] = (struct input_task_io){
		.device = io->device,
		.ios = io->io_starts,
	};
}
