// SPDX-License-Identifier: GPL-2.0-only
#include "freqload_work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* xorshift64: any seed but 0 */
int64_t work_random_offset(struct freqload_work *work)
{
	work->random ^= work->random << 13;
	work->random ^= work->random >> 7;
	work->random ^= work->random << 17;
	return (int64_t)(work->random % work->blocks) * FREQLOAD_BLOCK_BYTES;
}

void work_stop_counting(struct freqload_work *work)
{
	if (work->counting)
		freq_mean_stop(&work->mean, work->clock);
	work->counting = false;
}

/* Whether what is done at that time counts. The mean begins and ends with it. */
static bool counts(struct freqload_work *work, uint64_t now_ticks_ns)
{
	bool inside = now_ticks_ns >= work->count_from_ticks_ns &&
		      now_ticks_ns < work->count_until_ticks_ns;

	if (!inside) {
		work_stop_counting(work);
	} else if (!work->counting) {
		freq_mean_start(&work->mean, work->clock);
		work->counting = true;
	} else {
		freq_mean_update(&work->mean, work->clock);
	}
	return inside;
}

void work_finish_io(struct freqload_work *work, uint64_t issued_ticks_ns)
{
	uint64_t now_ns = freq_clock_ticks_ns(work->clock);

	if (counts(work, now_ns)) {
		latency_add(&work->latency,
			    now_ns > issued_ticks_ns ? now_ns - issued_ticks_ns : 0);
		work->done++;
	}
	freq_clock_burn(work->clock, work->cycles, work->end_ticks_ns);
}

int work_psync(struct freqload_work *work)
{
	uint64_t issued_ns;
	ssize_t bytes = 0;
	int64_t offset;
	void *buffer;

	buffer = aligned_alloc(FREQLOAD_BLOCK_BYTES, FREQLOAD_BLOCK_BYTES);
	if (!buffer)
		return -ENOMEM;

	while ((issued_ns = freq_clock_ticks_ns(work->clock)) < work->end_ticks_ns) {
		offset = work_random_offset(work);
		bytes = pread(work->fd, buffer, FREQLOAD_BLOCK_BYTES, offset);
		if (bytes < 0) {
			fprintf(stderr, "freqload: read: %m\n");
			break;
		}
		if (work->options->buffered)
			posix_fadvise(work->fd, offset, FREQLOAD_BLOCK_BYTES, POSIX_FADV_DONTNEED);
		work_finish_io(work, issued_ns);
	}

	free(buffer);
	return bytes < 0 ? -EIO : 0;
}

int work_cpu(struct freqload_work *work)
{
	while (freq_clock_ticks_ns(work->clock) < work->end_ticks_ns) {
		freq_clock_burn(work->clock, work->cycles, work->end_ticks_ns);
		if (counts(work, freq_clock_ticks_ns(work->clock)))
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
	uint64_t due_ns = freq_clock_now_ns(), now_ns;

	while (freq_clock_ticks_ns(work->clock) < work->end_ticks_ns) {
		due_ns += work->options->period_us * 1000;
		sleep_until(due_ns);
		/* The mean is to know of the CPU that it wakes on before it burns there. */
		counts(work, freq_clock_ticks_ns(work->clock));
		freq_clock_burn(work->clock, work->cycles, work->end_ticks_ns);
		now_ns = freq_clock_now_ns();
		if (counts(work, freq_clock_ticks_ns(work->clock))) {
			latency_add(&work->latency, now_ns - due_ns);
			work->done++;
		}
		/* Overrun: periods that have gone by are left out, not made up for. */
		while (due_ns + work->options->period_us * 1000 < now_ns)
			due_ns += work->options->period_us * 1000;
	}
	return 0;
}

/* The child inherits the clock's map, and burns by it. */
int work_serial(struct freqload_work *work)
{
	while (freq_clock_ticks_ns(work->clock) < work->end_ticks_ns) {
		pid_t pid = fork();

		if (pid < 0) {
			fprintf(stderr, "freqload: fork: %m\n");
			return -errno;
		}
		if (!pid) {
			freq_clock_burn(work->clock, work->cycles, work->end_ticks_ns);
			_exit(EXIT_SUCCESS);
		}
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		if (counts(work, freq_clock_ticks_ns(work->clock)))
			work->done++;
	}
	return 0;
}
