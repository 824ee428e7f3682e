// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakeload WORKERS WORK_US MS PAUSE_US: as schbench does, one thread gives work to others, which
 * wait for it, work so long, say so and wait again; it sleeps for the pause before. Without one, 0,
 * a worker often has new work before it sleeps, if there are few. Prints how many wake-ups of a
 * worker there were, and how long 50 and 99 of 100 took until it ran, in us.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WORKERS_MAX 256
#define WAITS_MAX   1000000

struct worker {
	atomic_int has_work; /* a futex */
	uint64_t woken_ns;
	pthread_t thread;
};

static struct worker workers[WORKERS_MAX];
static atomic_int n_done; /* a futex: workers that have said so */
static atomic_bool ends;
static uint64_t work_ns;
static uint32_t waits_us[WAITS_MAX];
static atomic_uint n_waits;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void wait_while(atomic_int *futex, int value)
{
	while (atomic_load(futex) == value && !atomic_load(&ends))
		syscall(SYS_futex, futex, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void set(atomic_int *futex, int value)
{
	atomic_store(futex, value);
	syscall(SYS_futex, futex, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void note_wait(const struct worker *worker)
{
	/* Where the clock is virtual, that of the waker's CPU may be some microseconds ahead. */
	int64_t waited_ns = now_ns() - worker->woken_ns;
	uint32_t i = atomic_fetch_add(&n_waits, 1);

	if (i < WAITS_MAX)
		waits_us[i] = waited_ns > 0 ? waited_ns / 1000 : 0;
}

static void *work(void *userdata)
{
	struct worker *worker = userdata;

	while (!atomic_load(&ends)) {
		uint64_t end_ns;

		wait_while(&worker->has_work, 0);
		if (atomic_load(&ends))
			break;
		note_wait(worker);
		for (end_ns = now_ns() + work_ns; now_ns() < end_ns;)
			;
		atomic_store(&worker->has_work, 0);
		atomic_fetch_add(&n_done, 1);
		syscall(SYS_futex, &n_done, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	return NULL;
}

/* Each that has nothing to do is given something. */
static void give_work(int n)
{
	for (int i = 0; i < n; i++) {
		if (atomic_load(&workers[i].has_work))
			continue;
		workers[i].woken_ns = now_ns();
		set(&workers[i].has_work, 1);
	}
}

static int compare(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return (a > b) - (a < b);
}

int main(int argc, char *argv[])
{
	int n = argc == 5 ? atoi(argv[1]) : 0;
	useconds_t pause_us = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
	uint64_t end_ns;
	uint32_t n_kept;

	if (n < 1 || n > WORKERS_MAX)
		return 2;
	work_ns = strtoull(argv[2], NULL, 10) * 1000;
	for (int i = 0; i < n; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	end_ns = now_ns() + strtoull(argv[3], NULL, 10) * 1000000;
	while (now_ns() < end_ns) {
		int done = atomic_load(&n_done);

		give_work(n);
		wait_while(&n_done, done);
		if (pause_us)
			usleep(pause_us);
	}
	atomic_store(&ends, true);
	for (int i = 0; i < n; i++) {
		set(&workers[i].has_work, 1);
		pthread_join(workers[i].thread, NULL);
	}
	n_kept = n_waits < WAITS_MAX ? n_waits : WAITS_MAX;
	qsort(waits_us, n_kept, sizeof(waits_us[0]), compare);
	printf("%u %u %u\n", n_waits, n_kept ? waits_us[n_kept / 2] : 0,
	       n_kept ? waits_us[(uint64_t)n_kept * 99 / 100] : 0);
	return 0;
}
