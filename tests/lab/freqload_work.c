// SPDX-License-Identifier: GPL-2.0-only
#include "freqload_work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of burn(): two instructions; and 55 us at 1800 MHz. */
#define CYCLES_PER_TURN 8
#define TURNS_PER_LOOK	12500

/* xorshift64: any seed but 0 */
struct freqload_place work_random_place(struct freqload_work *work)
{
	uint64_t block;

	work->random ^= work->random << 13;
	work->random ^= work->random >> 7;
	work->random ^= work->random << 17;
	block = work->random % (work->blocks * work->n_files);
	return (struct freqload_place){
		.fd = work->fds[block / work->blocks],
		.offset = (int64_t)(block % work->blocks) * FREQLOAD_BLOCK_BYTES,
	};
}

uint64_t work_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/*
 * Spins for about that many cycles of the lab's timed machine, which takes 4 for an instruction, or
 * until end_ns. A real CPU does several instructions in a cycle.
 */
static void burn(uint64_t cycles, uint64_t end_ns)
{
	uint64_t turns = cycles / CYCLES_PER_TURN;

	while (turns && work_now_ns() < end_ns) {
		uint64_t n = turns < TURNS_PER_LOOK ? turns : TURNS_PER_LOOK;

		for (turns -= n; n; n--)
			__asm__ volatile("");
	}
}

/* Whether what is done at that time counts. */
static bool counts(const struct freqload_work *work, uint64_t now_ns)
{
	return now_ns >= work->count_from_ns && now_ns < work->count_until_ns;
}

void work_finish_io(struct freqload_work *work, uint64_t issued_ns)
{
	uint64_t now_ns = work_now_ns();

	if (counts(work, now_ns)) {
		latency_add(&work->latency, now_ns - issued_ns);
		work->done++;
	}
	burn(work->cycles, work->end_ns);
}

int work_psync(struct freqload_work *work)
{
	uint64_t issued_ns;
	struct freqload_place place;
	ssize_t bytes = 0;
	void *buffer;

	buffer = aligned_alloc(FREQLOAD_BLOCK_BYTES, FREQLOAD_BLOCK_BYTES);
	if (!buffer)
		return -ENOMEM;

	while ((issued_ns = work_now_ns()) < work->end_ns) {
		place = work_random_place(work);
		bytes = pread(place.fd, buffer, FREQLOAD_BLOCK_BYTES, place.offset);
		if (bytes < 0) {
			fprintf(stderr, "freqload: read: %m\n");
			break;
		}
		if (work->options->buffered)
			posix_fadvise(place.fd, place.offset, FREQLOAD_BLOCK_BYTES,
				      POSIX_FADV_DONTNEED);
		work_finish_io(work, issued_ns);
	}

	free(buffer);
	return bytes < 0 ? -EIO : 0;
}

int work_cpu(struct freqload_work *work)
{
	while (work_now_ns() < work->end_ns) {
		burn(work->cycles, work->end_ns);
		if (counts(work, work_now_ns()))
			work->done++;
	}
	return 0;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(ns / 1000000000),
		.tv_nsec = (long)(ns % 1000000000),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* Latency is from the time that the burst was due to the time that its work was done. */
int work_periodic(struct freqload_work *work)
{
	uint64_t due_ns = work_now_ns(), now_ns;

	while (work_now_ns() < work->end_ns) {
		due_ns += work->options->period_us * 1000;
		sleep_until(due_ns);
		burn(work->cycles, work->end_ns);
		now_ns = work_now_ns();
		if (counts(work, now_ns)) {
			latency_add(&work->latency, now_ns - due_ns);
			work->done++;
		}
		/* Overrun: periods that have gone by are left out, not made up for. */
		while (due_ns + work->options->period_us * 1000 < now_ns)
			due_ns += work->options->period_us * 1000;
	}
	return 0;
}
