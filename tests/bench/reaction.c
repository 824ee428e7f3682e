// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast a frequency follows an event: wakegovd beside the least that can do it, a loop that
 * waits for a ring buffer and writes. tests/bench/reaction runs it.
 *
 * Usage: reaction CONTROL KHZ KHZ [PID]: of the process PID, or of the loop, which writes these
 * two frequencies to CONTROL in turn. A child works on CPU 1 in bursts; both are watched on CPU 0.
 * Prints how many writes there were, and the median and the 99th percentile in ns.
 */
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "native/work.h"

#include "reaction.skel.h"

#define WATCHED_CPU 0
#define LOAD_CPU    1
#define BURSTS	    200
#define BURST_US    40000
#define PAUSE_US    60000

static const char *khz[2];
static int control;

static int write_next(void *context, void *data, size_t size)
{
	uint32_t *turn = context;
	const char *text = khz[(*turn)++ % 2];

	(void)data;
	(void)size;
	return pwrite(control, text, strlen(text), 0) < 0 ? -1 : 0;
}

/* What is measured: nothing is decided, and nothing is remembered. */
static pid_t start_loop(struct reaction *skel, const char *path)
{
	pid_t pid = work_start();
	struct ring_buffer *ring;
	uint32_t turn = 0;

	if (pid)
		return pid;
	work_pin(0, WATCHED_CPU);
	control = open(path, O_WRONLY | O_CLOEXEC);
	ring = ring_buffer__new(bpf_map__fd(skel->maps.events), write_next, &turn, NULL);
	while (control >= 0 && ring && ring_buffer__poll(ring, -1) >= 0)
		;
	_exit(EXIT_FAILURE);
}

static pid_t start_bursts(void)
{
	pid_t pid;

	work_start_ordinary(true); /* as programs are */
	pid = work_start_on("bursts", LOAD_CPU);
	if (pid)
		return pid;
	for (;;) {
		usleep(PAUSE_US);
		work_burn(BURST_US);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	struct reaction *skel = reaction__open_and_load();
	pid_t loop = 0, load;
	uint32_t n;

	if (argc < 4 || !skel) {
		fprintf(stderr, "reaction: needs a control, two frequencies, and root\n");
		return EXIT_FAILURE;
	}
	khz[0] = argv[2];
	khz[1] = argv[3];
	load = start_bursts();
	if (argc == 4) {
		loop = start_loop(skel, argv[1]);
		skel->bss->load = load;
	}
	skel->bss->watched = argc == 4 ? (uint32_t)loop : strtoul(argv[4], NULL, 10);
	skel->bss->write_number = SYS_pwrite64;
	if (reaction__attach(skel) < 0) {
		fprintf(stderr, "reaction: the programs cannot be attached\n");
		return EXIT_FAILURE;
	}
	usleep(BURSTS * (BURST_US + PAUSE_US));
	reaction__detach(skel);
	work_end(load);
	if (loop)
		work_end(loop);
	n = skel->bss->n_samples;
	qsort(skel->bss->samples_ns, n, sizeof(skel->bss->samples_ns[0]), compare);
	if (n)
		printf("%u %llu %llu\n", n, (unsigned long long)skel->bss->samples_ns[n / 2],
		       (unsigned long long)skel->bss->samples_ns[n * 99 / 100]);
	reaction__destroy(skel);
	return n ? EXIT_SUCCESS : EXIT_FAILURE;
}
