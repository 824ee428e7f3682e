// SPDX-License-Identifier: GPL-2.0-only
/*
 * What recording costs, by a recording: it is replayed again and again, with a recorder that writes
 * everything down anew, to memory, and without one.
 *
 *	build/wakegov-sim … --record FILE && build/tests/bench/record-cost FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/replay.h"

#define NS_PER_S	1000000000ULL
#define ROUNDS_NS	(2 * NS_PER_S) /* however short the recording is */
#define EVENTS_PER_S	20000.0
#define BYTES_PER_MB	1e6
#define SECONDS_PER_MIN 60

struct cost {
	uint64_t cpu_ns; /* the least of the rounds: what else the machine does only adds */
	uint64_t events; /* inputs and decisions */
	uint64_t bytes;
};

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The bytes are counted by the recorder; where they go costs a copy. */
static int take(void *userdata, const void *data, size_t size)
{
	static char memory[1 << 20];

	memcpy(memory, data, size < sizeof(memory) ? size : sizeof(memory));
	return 0;
}

static int run_once(const char *path, bool records, struct cost *cost)
{
	FILE *file = fopen(path, "re");
	struct recorder *recorder = records ? recorder_new(take, NULL) : NULL;
	struct record_reader *reader = file ? record_reader_new(file) : NULL;
	struct replay replay = { 0 };
	uint64_t start_ns = cpu_ns();
	int r = reader ? record_reader_begin(reader) : -1;

	if (r == 0)
		r = replay_run(reader, recorder, &replay);
	if (recorder && recorder_end(recorder, 0) < 0)
		r = -1;
	if (cpu_ns() - start_ns < cost->cpu_ns)
		cost->cpu_ns = cpu_ns() - start_ns;
	cost->events = replay.n_inputs + replay.n_decisions;
	cost->bytes = recorder ? recorder->bytes : 0;
	if (file)
		fclose(file);
	record_reader_free(reader);
	recorder_free(recorder);
	return r == REPLAY_SAME || r == REPLAY_CUT ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct cost with = { .cpu_ns = UINT64_MAX }, without = { .cpu_ns = UINT64_MAX };
	double ns, bytes;
	int r = argc == 2 ? 0 : -1;

	while (r == 0 && cpu_ns() < ROUNDS_NS) {
		r = run_once(argv[1], false, &without);
		if (r == 0)
			r = run_once(argv[1], true, &with);
	}
	if (r < 0 || !with.events) {
		fputs("record-cost: expected one recording that replays, of wakegov-sim --record or "
		      "wakegovctl record\n",
		      stderr);
		return 1;
	}
	ns = ((double)with.cpu_ns - (double)without.cpu_ns) / (double)with.events;
	bytes = (double)with.bytes / (double)with.events;
	printf("%llu events: recording takes %.0f ns and %.1f bytes for each\n",
	       (unsigned long long)with.events, ns, bytes);
	printf("if each event were one of 20,000 a second: %.2f %% of a CPU, %.1f MB a minute\n",
	       ns * EVENTS_PER_S / NS_PER_S * 100,
	       bytes * EVENTS_PER_S * SECONDS_PER_MIN / BYTES_PER_MB);
	return 0;
}
