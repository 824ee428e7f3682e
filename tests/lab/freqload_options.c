// SPDX-License-Identifier: GPL-2.0-only
#include "freqload_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const freqload_workload_names[] = { "psync", "io_uring", "cpu", "periodic", NULL };

enum {
	OPT_FILE,
	OPT_BUFFERED,
	OPT_THREADS,
	OPT_DEPTH,
	OPT_CYCLES,
	OPT_PERIOD_US,
	OPT_BUSY_CYCLES,
	OPT_CPUS,
	OPT_PIN,
	OPT_TIME,
	OPT_MARGIN_MS,
	OPT_JSON,
	OPT_HELP,
};

static const struct option long_options[] = {
	{ "file", required_argument, NULL, OPT_FILE },
	{ "buffered", no_argument, NULL, OPT_BUFFERED },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "cycles", required_argument, NULL, OPT_CYCLES },
	{ "period-us", required_argument, NULL, OPT_PERIOD_US },
	{ "busy-cycles", required_argument, NULL, OPT_BUSY_CYCLES },
	{ "cpus", required_argument, NULL, OPT_CPUS },
	{ "pin", no_argument, NULL, OPT_PIN },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "margin-ms", required_argument, NULL, OPT_MARGIN_MS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, OPT_HELP },
	{},
};

static void show_help(void)
{
	puts("Usage: freqload WORKLOAD [OPTION…]\n"
	     "A load. A cycle is one of the lab's timed machine: a quarter of an instruction.\n\n"
	     "  psync      direct random 4 KiB reads, one at a time per thread, --cycles between two\n"
	     "  io_uring   the same with --depth reads in flight per thread, --cycles for each\n"
	     "  cpu        a busy loop; work is counted in units of a million cycles\n"
	     "  periodic   each --period-us, a burst of --busy-cycles\n\n"
	     "  --file DEV,…          what to read, each read from one of them by chance, default\n"
	     "                        /dev/nullb0\n"
	     "  --buffered            read through the page cache, which keeps nothing of it: for file\n"
	     "                        systems without direct reads\n"
	     "  --cycles N            default 61714\n"
	     "  --threads N           default 1\n"
	     "  --depth N             default 32\n"
	     "  --period-us N         default 10000\n"
	     "  --busy-cycles N       default 1000000\n"
	     "  --cpus LIST           run on these only, such as 0-1,3\n"
	     "  --pin                 thread i on the i-th CPU of --cpus alone, in turn\n"
	     "  --time SECONDS        default 5\n"
	     "  --margin-ms N         run so much longer before and after, which does not count, and\n"
	     "                        print a line, begin and end, where the time that counts does\n"
	     "  --json                for machines");
}

static int parse_number(const char *name, uint64_t minimum, uint64_t maximum, uint64_t *ret_number)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(optarg, &end, 10);
	if (errno || *end || optarg[0] < '0' || optarg[0] > '9' || number < minimum ||
	    number > maximum) {
		fprintf(stderr, "freqload: --%s '%s': expected a whole number, %llu to %llu\n",
			name, optarg, (unsigned long long)minimum, (unsigned long long)maximum);
		return -EINVAL;
	}

	*ret_number = number;
	return 0;
}

static int parse_small(const char *name, unsigned int maximum, unsigned int *ret_number)
{
	uint64_t number;
	int r = parse_number(name, 1, maximum, &number);

	if (r < 0)
		return r;

	*ret_number = (unsigned int)number;
	return 0;
}

/* "0-1,3" */
static int parse_cpus(const char *list, cpu_set_t *ret_cpus)
{
	unsigned int first, last;
	cpu_set_t cpus;
	int used;

	CPU_ZERO(&cpus);
	for (;;) {
		used = 0;
		if (sscanf(list, "%u%n", &first, &used) != 1 || !used)
			return -EINVAL;
		list += used;
		last = first;
		if (*list == '-') {
			if (sscanf(list + 1, "%u%n", &last, &used) != 1)
				return -EINVAL;
			list += used + 1;
		}
		if (last < first || last >= CPU_SETSIZE)
			return -EINVAL;
		for (; first <= last; first++)
			CPU_SET(first, &cpus);
		if (!*list)
			break;
		if (*list++ != ',')
			return -EINVAL;
	}

	*ret_cpus = cpus;
	return 0;
}

static int parse_option(int option, const char *name, struct freqload_options *options)
{
	switch (option) {
	case OPT_FILE:
		options->file = optarg;
		return 0;
	case OPT_BUFFERED:
		options->buffered = true;
		return 0;
	case OPT_THREADS:
		return parse_small(name, 1024, &options->threads);
	case OPT_DEPTH:
		return parse_small(name, 4096, &options->depth);
	case OPT_CYCLES:
		return parse_number(name, 0, 1000000000, &options->cycles);
	case OPT_BUSY_CYCLES:
		return parse_number(name, 1, 1000000000, &options->cycles);
	case OPT_PERIOD_US:
		return parse_number(name, 1, 100000000, &options->period_us);
	case OPT_CPUS:
		if (parse_cpus(optarg, &options->cpus) == 0)
			return 0;
		fprintf(stderr, "freqload: --cpus '%s': expected a list such as 0-1,3\n", optarg);
		return -EINVAL;
	case OPT_PIN:
		options->pin = true;
		return 0;
	case OPT_TIME:
		return parse_small(name, 86400, &options->seconds);
	case OPT_MARGIN_MS:
		return parse_small(name, 60000, &options->margin_ms);
	case OPT_JSON:
		options->json = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int parse_workload(const char *name, struct freqload_options *options)
{
	unsigned int i;

	for (i = 0; name && freqload_workload_names[i]; i++) {
		if (strcmp(name, freqload_workload_names[i]) == 0) {
			options->workload = i;
			return 0;
		}
	}

	fprintf(stderr, "freqload: workload '%s': expected psync, io_uring, cpu or periodic\n",
		name ? name : "");
	return -EINVAL;
}

static int check_options(int argc, char **argv, const struct freqload_options *options)
{
	if (optind + 1 < argc) {
		fprintf(stderr, "freqload: unexpected argument '%s'\n", argv[optind + 1]);
		return -EINVAL;
	}
	if (options->pin && CPU_COUNT(&options->cpus) == 0) {
		fputs("freqload: --pin: expected --cpus LIST with it\n", stderr);
		return -EINVAL;
	}
	return 0;
}

int freqload_options_parse(int argc, char **argv, struct freqload_options *ret_options)
{
	struct freqload_options options = {
		.file = "/dev/nullb0",
		.threads = 1,
		.depth = 32,
		.seconds = 5,
		.period_us = 10000,
	};
	bool have_cycles = false;
	int option, index, r;

	while ((option = getopt_long(argc, argv, "h", long_options, &index)) >= 0) {
		if (option == OPT_HELP || option == 'h') {
			show_help();
			return 1;
		}
		r = parse_option(option, long_options[index].name, &options);
		if (r < 0)
			return r;
		have_cycles |= option == OPT_CYCLES || option == OPT_BUSY_CYCLES;
	}
	r = parse_workload(optind < argc ? argv[optind] : NULL, &options);
	if (r >= 0)
		r = check_options(argc, argv, &options);
	if (r < 0)
		return r;

	if (options.workload == FREQLOAD_CPU)
		options.cycles = 1000000;
	else if (!have_cycles)
		options.cycles = options.workload == FREQLOAD_PERIODIC ? 1000000 : 61714;
	*ret_options = options;
	return 0;
}
