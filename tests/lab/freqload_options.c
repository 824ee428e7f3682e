// SPDX-License-Identifier: GPL-2.0-only
#include "freqload_work.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const freqload_workload_names[] = { "psync", "io_uring", "cpu", "periodic", NULL };

enum {
	OPT_FILE = 256,
	OPT_BUFFERED,
	OPT_THREADS,
	OPT_DEPTH,
	OPT_CYCLES,
	OPT_PERIOD_US,
	OPT_CPUS,
	OPT_PIN,
	OPT_TIME,
	OPT_MARGIN_MS,
	OPT_JSON,
};

static const struct argp_option known[] = {
	{ "file", OPT_FILE, "DEV", 0,
	  "What to read, or several with commas, of which each read is from one by chance; default "
	  "/dev/nullb0" },
	{ "buffered", OPT_BUFFERED, NULL, 0,
	  "Read through the page cache, which keeps nothing of it: for file systems without direct "
	  "reads" },
	{ "threads", OPT_THREADS, "N", 0, "Default 1" },
	{ "depth", OPT_DEPTH, "N", 0, "Default 32" },
	{ "cycles", OPT_CYCLES, "N", 0, "Default 61714; of a burst 1000000" },
	{ "busy-cycles", OPT_CYCLES, "N", OPTION_ALIAS },
	{ "period-us", OPT_PERIOD_US, "N", 0, "Default 10000" },
	{ "cpus", OPT_CPUS, "LIST", 0, "Run on these only, such as 0-1,3" },
	{ "pin", OPT_PIN, NULL, 0, "Thread i on the i-th CPU of --cpus alone, in turn" },
	{ "time", OPT_TIME, "SECONDS", 0, "Default 5" },
	{ "margin-ms", OPT_MARGIN_MS, "N", 0,
	  "Run so much longer before and after, which does not count, and print a line, begin and "
	  "end, where the time that counts does" },
	{ "json", OPT_JSON, NULL, 0, "For machines" },
	{ 0 },
};

static uint64_t number(const struct argp_state *state, const char *text, uint64_t least,
		       uint64_t most)
{
	unsigned long long found;
	char *end;

	errno = 0;
	found = strtoull(text, &end, 10);
	if (errno || *end || text[0] < '0' || text[0] > '9' || found < least || found > most)
		argp_error(state, "'%s': expected a whole number, %llu to %llu", text,
			   (unsigned long long)least, (unsigned long long)most);
	return found;
}

/* "0-1,3" */
static int parse_cpus(const char *list, cpu_set_t *ret_cpus)
{
	unsigned int first, last;
	int used;

	do {
		used = 0;
		if (sscanf(list, "%u%n", &first, &used) != 1)
			return -EINVAL;
		list += used;
		last = first;
		if (*list == '-') {
			if (sscanf(list + 1, "%u%n", &last, &used) != 1)
				return -EINVAL;
			list += used + 1;
		}
		if (last < first || last >= CPU_SETSIZE || (*list && *list != ','))
			return -EINVAL;
		for (; first <= last; first++)
			CPU_SET(first, ret_cpus);
	} while (*list++);
	return 0;
}

static void set_workload(const struct argp_state *state, const char *name,
			 struct freqload_options *options)
{
	unsigned int i = 0;

	while (freqload_workload_names[i] && strcmp(name, freqload_workload_names[i]) != 0)
		i++;
	if (!freqload_workload_names[i] || state->arg_num)
		argp_error(state, "'%s': expected one of psync, io_uring, cpu and periodic", name);
	options->workload = i;
}

static error_t take(int key, char *text, struct argp_state *state)
{
	struct freqload_options *options = state->input;

	switch (key) {
	case OPT_FILE:
		options->file = text;
		return 0;
	case OPT_BUFFERED:
		options->buffered = true;
		return 0;
	case OPT_THREADS:
		options->threads = number(state, text, 1, 1024);
		return 0;
	case OPT_DEPTH:
		options->depth = number(state, text, 1, 4096);
		return 0;
	case OPT_CYCLES:
		options->cycles = number(state, text, 0, 1000000000);
		return 0;
	case OPT_PERIOD_US:
		options->period_us = number(state, text, 1, 100000000);
		return 0;
	case OPT_CPUS:
		if (parse_cpus(text, &options->cpus) < 0)
			argp_error(state, "--cpus '%s': expected a list such as 0-1,3", text);
		return 0;
	case OPT_PIN:
		options->pin = true;
		return 0;
	case OPT_TIME:
		options->seconds = number(state, text, 1, 86400);
		return 0;
	case OPT_MARGIN_MS:
		options->margin_ms = number(state, text, 1, 60000);
		return 0;
	case OPT_JSON:
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		set_workload(state, text, options);
		return 0;
	case ARGP_KEY_END:
		if (!state->arg_num || (options->pin && CPU_COUNT(&options->cpus) == 0))
			argp_error(state, "expected a workload, and --cpus LIST with --pin");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void freqload_options_parse(int argc, char **argv, struct freqload_options *ret)
{
	static const struct argp parser = {
		known, take, "WORKLOAD",
		"A load. A cycle is one of the lab's timed machine: a quarter of an instruction.\n\n"
		"  psync      direct random 4 KiB reads, one at a time per thread, --cycles between two\n"
		"  io_uring   the same with --depth reads in flight per thread, --cycles for each\n"
		"  cpu        a busy loop; work is counted in units of a million cycles\n"
		"  periodic   each --period-us, a burst of --busy-cycles\n"
	};

	*ret = (struct freqload_options){
		.file = "/dev/nullb0",
		.threads = 1,
		.depth = 32,
		.seconds = 5,
		.period_us = 10000,
		.cycles = UINT64_MAX,
	};
	argp_err_exit_status = 2;
	argp_parse(&parser, argc, argv, 0, NULL, ret);
	if (ret->workload == FREQLOAD_CPU)
		ret->cycles = 1000000;
	else if (ret->cycles == UINT64_MAX)
		ret->cycles = ret->workload == FREQLOAD_PERIODIC ? 1000000 : 61714;
}
