// SPDX-License-Identifier: GPL-2.0-only
/* A load generator; freqload_options.c says what it does. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/fs.h>

#include "freqload_work.h"

struct runner {
	struct freqload_work work;
	pthread_t thread;
	int result;
};

static int (*const run_workload[])(struct freqload_work *) = {
	[FREQLOAD_PSYNC] = work_psync,
	[FREQLOAD_IO_URING] = work_io_uring,
	[FREQLOAD_CPU] = work_cpu,
	[FREQLOAD_PERIODIC] = work_periodic,
};

static int is_io(const struct freqload_options *options)
{
	return options->workload == FREQLOAD_PSYNC || options->workload == FREQLOAD_IO_URING;
}

static int open_file(const char *path, bool buffered, int *ret_fd, uint64_t *ret_blocks)
{
	int flags = O_RDONLY | O_CLOEXEC | (buffered ? 0 : O_DIRECT);
	uint64_t bytes = 0;
	struct stat st;
	int fd, r = 0;

	fd = open(path, flags);
	if (fd < 0 || fstat(fd, &st) < 0)
		r = -errno;
	else if (S_ISREG(st.st_mode))
		bytes = (uint64_t)st.st_size;
	else if (ioctl(fd, BLKGETSIZE64, &bytes) < 0)
		r = -errno;
	if (r >= 0 && bytes < FREQLOAD_BLOCK_BYTES)
		r = -ENODATA;
	if (r < 0) {
		fprintf(stderr,
			"freqload: --file '%s': %s, expected a block device or file of 4 KiB or more\n",
			path, strerror(-r));
		if (fd >= 0)
			close(fd);
		return r;
	}

	/* No reading ahead. */
	if (buffered)
		posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	*ret_fd = fd;
	*ret_blocks = bytes / FREQLOAD_BLOCK_BYTES;
	return 0;
}

/* With --pin, the i-th CPU of the list alone. */
static int set_affinity(const struct freqload_options *options, unsigned int index)
{
	cpu_set_t cpus = options->cpus;
	int cpu, skip;

	if (CPU_COUNT(&cpus) == 0)
		return 0;

	if (options->pin) {
		skip = (int)index % CPU_COUNT(&options->cpus);
		for (cpu = 0; !CPU_ISSET(cpu, &options->cpus) || skip-- > 0;)
			cpu++;
		CPU_ZERO(&cpus);
		CPU_SET(cpu, &cpus);
	}
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0) {
		fprintf(stderr, "freqload: --cpus: %m, expected CPUs that are online\n");
		return -errno;
	}
	return 0;
}

static void *run_thread(void *data)
{
	struct runner *runner = data;
	struct freqload_work *work = &runner->work;

	runner->result = set_affinity(work->options, (unsigned int)work->random - 1);
	if (runner->result < 0)
		return NULL;

	runner->result = run_workload[work->options->workload](work);
	return NULL;
}

static void sleep_ms(unsigned int ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

/* Tells whoever reads our output where the time that counts begins and ends. */
static void mark(const struct freqload_options *options)
{
	sleep_ms(options->margin_ms);
	puts("begin");
	fflush(stdout);
	sleep_ms(options->seconds * 1000);
	puts("end");
	fflush(stdout);
}

static int run_all(struct runner *runners, const struct freqload_work *pattern)
{
	unsigned int i, started, threads = pattern->options->threads;
	int r = 0;

	for (started = 0; started < threads; started++) {
		runners[started].work = *pattern;
		/* The seed, and which thread it is. */
		runners[started].work.random = started + 1;
		r = -pthread_create(&runners[started].thread, NULL, run_thread, &runners[started]);
		if (r < 0) {
			fprintf(stderr, "freqload: --threads %u: %s\n", threads, strerror(-r));
			break;
		}
	}
	if (r >= 0 && pattern->options->margin_ms)
		mark(pattern->options);
	for (i = 0; i < started; i++) {
		pthread_join(runners[i].thread, NULL);
		if (r >= 0)
			r = runners[i].result;
	}
	return r;
}

static void sum_up(const struct runner *runners, unsigned int threads, struct freqload_work *sum)
{
	unsigned int i;

	for (i = 0; i < threads; i++) {
		sum->done += runners[i].work.done;
		latency_merge(&sum->latency, &runners[i].work.latency);
	}
}

static void report(const struct freqload_work *sum)
{
	const struct freqload_options *options = sum->options;
	double seconds = options->seconds;
	const char *name = freqload_workload_names[options->workload];
	const char *rate = is_io(options) ? "iops" : "work_per_s";
	double p50 = latency_percentile_us(&sum->latency, 0.50);
	double p95 = latency_percentile_us(&sum->latency, 0.95);
	double p99 = latency_percentile_us(&sum->latency, 0.99);

	if (options->json) {
		printf("{\"workload\":\"%s\",\"threads\":%u,\"seconds\":%.3f,\"%s\":%.2f,"
		       "\"lat_p50_us\":%.1f,\"lat_p95_us\":%.1f,\"lat_p99_us\":%.1f}\n",
		       name, options->threads, seconds, rate, (double)sum->done / seconds, p50, p95,
		       p99);
		return;
	}
	printf("%s x%u: %.1f %s", name, options->threads, (double)sum->done / seconds, rate);
	if (sum->latency.count > 0)
		printf(", latency p50 %.0f p95 %.0f p99 %.0f us", p50, p95, p99);
	putchar('\n');
}

static int measure(struct freqload_work *pattern)
{
	const struct freqload_options *options = pattern->options;
	struct runner *runners;
	uint64_t margin_ns;
	int r;

	runners = calloc(options->threads, sizeof(*runners));
	if (!runners)
		return -ENOMEM;

	pattern->cycles = options->cycles;
	margin_ns = options->margin_ms * 1000000ULL;
	pattern->count_from_ns = work_now_ns() + margin_ns;
	pattern->count_until_ns = pattern->count_from_ns + options->seconds * 1000000000ULL;
	pattern->end_ns = pattern->count_until_ns + margin_ns;
	r = run_all(runners, pattern);
	if (r >= 0) {
		sum_up(runners, options->threads, pattern);
		report(pattern);
	}
	free(runners);
	return r;
}

/* A list with commas, of which reads take each file as often. */
static int open_files(const struct freqload_options *options, struct freqload_work *work)
{
	char *list = strdup(options->file), *rest = list, *path;
	uint64_t blocks;
	int r = list ? 0 : -ENOMEM;

	while (r >= 0 && (path = strsep(&rest, ","))) {
		if (work->n_files == FREQLOAD_FILES_MAX) {
			fprintf(stderr, "freqload: --file: expected at most %d\n",
				FREQLOAD_FILES_MAX);
			r = -E2BIG;
			break;
		}
		r = open_file(path, options->buffered, &work->fds[work->n_files], &blocks);
		if (r >= 0 && (work->n_files++ == 0 || blocks < work->blocks))
			work->blocks = blocks;
	}
	free(list);
	return r;
}

int main(int argc, char **argv)
{
	static struct freqload_work pattern;
	struct freqload_options options;
	int r;

	freqload_options_parse(argc, argv, &options);
	pattern.options = &options;
	if (is_io(&options) && open_files(&options, &pattern) < 0)
		return EXIT_FAILURE;
	r = measure(&pattern);
	while (pattern.n_files > 0)
		close(pattern.fds[--pattern.n_files]);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
