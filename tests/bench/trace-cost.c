// SPDX-License-Identifier: GPL-2.0-only
/*
 * What following I/O costs: the mean run of each program that an I/O passes, less that of an empty
 * program on the same tracepoint in the same seconds, from the kernel's BPF statistics; of some
 * rounds the median.
 *
 * Usage: trace-cost [FIO-OPTION…]; a round reads 4 KiB blocks for three seconds unless told
 * otherwise. Exit status 1: the block programs cost more than LIMIT_NS per I/O.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "empty.skel.h"
#include "tracer/tracer_private.h"

#define LIMIT_NS    150
#define ROUNDS	    5
#define PAIRS	    4
#define OPTIONS_MAX 32

struct pair {
	const char *name;
	const struct bpf_program *ours, *empty;
	bool block; /* counts for the limit */
};

struct runs {
	double n, ns;
};

/* What a round says of one pair. */
struct cost {
	double runs_per_io, ours_ns, empty_ns, added_ns; /* the last one per I/O */
};

static struct runs runs_of(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) < 0)
		return (struct runs){ 0 };
	return (struct runs){ .n = info.run_cnt, .ns = info.run_time_ns };
}

static struct topology *topology_new(void)
{
	struct topology *topology = calloc(1, sizeof(*topology));

	if (!topology)
		abort();
	topology->n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++)
		topology->cpu_domain[cpu] = TOPOLOGY_NO_DOMAIN;
	return topology;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* As the daemon does: an I/O task keeps its slot, a device is looked at. */
static void take_event(void *userdata, const struct tracer_event *event)
{
	struct tracer *tracer = userdata;
	struct input input;

	if (event->type == TRACER_DEVICE)
		tracer_classify_device(tracer, event->handle);
	else if (event->type == TRACER_TASK &&
		 tracer_read_task(tracer, event->handle, now_ns(), &input) == 0 &&
		 input.type == INPUT_TASK_END)
		tracer_release_task(tracer, event->handle);
}

static pid_t start_fio(int n, char **options)
{
	const char *argv[OPTIONS_MAX + 16] = {
		"fio",	      "--name=trace-cost", "--filename=trace-cost.tmp",
		"--size=64m", "--rw=randread",	   "--bs=4k",
		"--direct=1", "--ioengine=psync",  "--time_based",
		"--runtime=3"
	};
	size_t at = 0;
	pid_t pid;

	while (argv[at])
		at++;
	for (int i = 0; i < n && i < OPTIONS_MAX; i++)
		argv[at++] = options[i];
	pid = fork();
	if (pid)
		return pid;
	if (!freopen("/dev/null", "w", stdout))
		_exit(127);
	execvp("fio", (char **)argv);
	_exit(127);
}

static int run_fio(struct tracer *tracer, int n, char **options)
{
	struct pollfd poll_fd = { .fd = tracer_fd(tracer), .events = POLLIN };
	pid_t pid = start_fio(n, options);
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		poll(&poll_fd, 1, 100);
		tracer_consume(tracer, take_event, tracer);
	}
	unlink("trace-cost.tmp");
	return status;
}

static void read_runs(const struct pair *pairs, struct runs ours[PAIRS], struct runs empty[PAIRS])
{
	for (size_t i = 0; i < PAIRS; i++) {
		ours[i] = runs_of(pairs[i].ours);
		empty[i] = runs_of(pairs[i].empty);
	}
}

static double mean_ns(const struct runs *before, const struct runs *after)
{
	return after->n > before->n ? (after->ns - before->ns) / (after->n - before->n) : 0;
}

/* One round; pairs[0] runs once per I/O. False: fio failed. */
static bool run_round(struct tracer *tracer, const struct pair *pairs, int n, char **options,
		      struct cost ret[PAIRS])
{
	struct runs ours[2][PAIRS], empty[2][PAIRS];
	double ios;
	int status;

	read_runs(pairs, ours[0], empty[0]);
	status = run_fio(tracer, n, options);
	read_runs(pairs, ours[1], empty[1]);
	ios = ours[1][0].n - ours[0][0].n;
	if (status || ios < 1) {
		fprintf(stderr, "trace-cost: fio failed (wait status %d)\n", status);
		return false;
	}
	for (size_t i = 0; i < PAIRS; i++) {
		ret[i].runs_per_io = (ours[1][i].n - ours[0][i].n) / ios;
		ret[i].ours_ns = mean_ns(&ours[0][i], &ours[1][i]);
		ret[i].empty_ns = mean_ns(&empty[0][i], &empty[1][i]);
		ret[i].added_ns = (ret[i].ours_ns - ret[i].empty_ns) * ret[i].runs_per_io;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double values[ROUNDS])
{
	qsort(values, ROUNDS, sizeof(values[0]), compare);
	return values[ROUNDS / 2];
}

/* Of each number of the pair's rounds. */
static struct cost median_cost(const struct cost costs[ROUNDS][PAIRS], size_t pair)
{
	double runs[ROUNDS], ours[ROUNDS], empty[ROUNDS], added[ROUNDS];

	for (size_t i = 0; i < ROUNDS; i++) {
		runs[i] = costs[i][pair].runs_per_io;
		ours[i] = costs[i][pair].ours_ns;
		empty[i] = costs[i][pair].empty_ns;
		added[i] = costs[i][pair].added_ns;
	}
	return (struct cost){ median(runs), median(ours), median(empty), median(added) };
}

/* Returns whether the cost is within the limit. */
static bool report(const struct pair *pairs, const struct cost costs[ROUNDS][PAIRS])
{
	double total[ROUNDS] = { 0 }, block[ROUNDS] = { 0 };

	printf("%-18s %8s %8s %8s %6s %9s\n", "program", "runs/IO", "ns/run", "empty", "ratio",
	       "ns/IO");
	for (size_t i = 0; i < PAIRS; i++) {
		struct cost cost = median_cost(costs, i);

		printf("%-18s %8.2f %8.1f %8.1f %6.2f %9.1f\n", pairs[i].name, cost.runs_per_io,
		       cost.ours_ns, cost.empty_ns,
		       cost.empty_ns ? cost.ours_ns / cost.empty_ns : 0, cost.added_ns);
		for (size_t round = 0; round < ROUNDS; round++) {
			total[round] += costs[round][i].added_ns;
			block[round] += pairs[i].block ? costs[round][i].added_ns : 0;
		}
	}
	printf("per I/O: block programs %.1f ns (limit %d), all %.1f ns; medians of %d rounds\n",
	       median(block), LIMIT_NS, median(total), ROUNDS);
	return median(block) <= LIMIT_NS;
}

static bool measure(struct tracer *tracer, struct empty *empty, int n, char **options)
{
	const struct wakegov *skel = tracer->programs.skel;
	const struct pair pairs[PAIRS] = {
		{ "block_io_start", skel->progs.on_block_io_start,
		  empty->progs.empty_block_io_start, true },
		{ "block_rq_complete", skel->progs.on_block_rq_complete,
		  empty->progs.empty_block_rq_complete, true },
		{ "sched_waking", skel->progs.on_sched_waking, empty->progs.empty_sched_waking },
		{ "sched_switch", skel->progs.on_sched_switch, empty->progs.empty_sched_switch },
	};
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	struct cost costs[ROUNDS][PAIRS];

	if (stats < 0) {
		fprintf(stderr, "trace-cost: no BPF statistics on this kernel\n");
		return false;
	}
	for (int round = 0; round < ROUNDS; round++)
		if (!run_round(tracer, pairs, n, options, costs[round])) {
			close(stats);
			return false;
		}
	close(stats);
	return report(pairs, (const struct cost(*)[PAIRS])costs);
}

int main(int argc, char **argv)
{
	struct topology *topology = topology_new();
	struct empty *empty = empty__open_and_load();
	struct tracer *tracer = NULL;
	const char *why = "the empty programs cannot be loaded";
	struct policy policy;
	bool within = false;

	policy_init(&policy);
	if (!empty || empty__attach(empty) < 0 ||
	    tracer_new(topology, &policy.io_boost, &tracer, &why) < 0)
		fprintf(stderr, "trace-cost: %s\n", why);
	else
		within = measure(tracer, empty, argc - 1, argv + 1);
	tracer_free(tracer);
	empty__destroy(empty);
	free(topology);
	return within ? EXIT_SUCCESS : EXIT_FAILURE;
}
