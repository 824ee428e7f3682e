// SPDX-License-Identifier: GPL-2.0-only
/*
 * What following I/O costs: the mean run of each of wakegovd's programs that an I/O passes, less
 * that of an empty program on the same tracepoint in the same seconds, from the kernel's BPF
 * statistics; of some rounds the median. The daemon is the one that was built, and decides as ever
 * when there is something to learn: only then do programs run at requests.
 *
 * Usage: trace-cost [FIO-OPTION…]; a round reads 4 KiB blocks for three seconds unless told
 * otherwise. Exit status 1: the block programs cost more than LIMIT_NS per I/O.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "empty.skel.h"

#define LIMIT_NS    150
#define ROUNDS	    5
#define PAIRS	    3
#define OPTIONS_MAX 32
#define RUN_DIR	    "trace-cost.run"

struct pair {
	const char *name;
	const char *program; /* ours */
	const struct bpf_program *empty;
	bool block; /* counts for the limit */
	int ours;   /* file descriptor */
};

struct runs {
	double n, ns;
};

struct sample {
	struct runs ours[PAIRS], empty[PAIRS];
};

/* What a round says of one pair. */
struct cost {
	double runs_per_io, ours_ns, empty_ns, added_ns; /* the last one per I/O */
};

static struct runs runs_of(int program)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(program, &info, &size) < 0)
		return (struct runs){ 0 };
	return (struct runs){ .n = info.run_cnt, .ns = info.run_time_ns };
}

/* The newest program of that name, which the kernel cuts; 0: there is none after the id `after`. */
static uint32_t find_program(const char *name, uint32_t after)
{
	struct bpf_prog_info info;
	uint32_t id = after, size, found = 0;

	while (bpf_prog_get_next_id(id, &id) == 0) {
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		info = (struct bpf_prog_info){ 0 };
		size = sizeof(info);
		if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
		    !strncmp(info.name, name, sizeof(info.name) - 1))
			found = id;
		close(fd);
	}
	return found;
}

static uint32_t last_program(void)
{
	uint32_t id = 0, last = 0;

	while (bpf_prog_get_next_id(id, &id) == 0)
		last = id;
	return last;
}

/* The daemon as it is, which sees no cpufreq here and watches; its programs are those after. */
static pid_t start_daemon(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	execl("./wakegovd", "wakegovd", "--config", "/dev/null", "--run-dir", RUN_DIR, NULL);
	_exit(127);
}

static int open_program(const char *name, uint32_t after)
{
	uint32_t id = 0;

	for (int tries = 0; !id && tries < 100; tries++) {
		id = find_program(name, after);
		if (!id)
			usleep(100000);
	}
	return id ? bpf_prog_get_fd_by_id(id) : -1;
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

static void take_sample(const struct pair *pairs, struct sample *ret)
{
	for (size_t i = 0; i < PAIRS; i++) {
		ret->ours[i] = runs_of(pairs[i].ours);
		ret->empty[i] = runs_of(bpf_program__fd(pairs[i].empty));
	}
}

static void add_runs(struct runs *sum, const struct runs *before, const struct runs *after)
{
	sum->n += after->n - before->n;
	sum->ns += after->ns - before->ns;
}

static void add_sample(struct sample *sum, const struct sample *before, const struct sample *after)
{
	for (size_t i = 0; i < PAIRS; i++) {
		add_runs(&sum->ours[i], &before->ours[i], &after->ours[i]);
		add_runs(&sum->empty[i], &before->empty[i], &after->empty[i]);
	}
}

/* Runs fio; returns its wait status. */
static int run_fio(char **options, int n)
{
	pid_t fio = start_fio(n, options);
	int status;

	waitpid(fio, &status, 0);
	unlink("trace-cost.tmp");
	return status;
}

static double mean_ns(const struct runs *runs)
{
	return runs->n > 0 ? runs->ns / runs->n : 0;
}

/* One of each pair; the empty one of pairs[0] runs once per I/O, ours while it is attached. */
static void price(const struct sample *sum, struct cost ret[PAIRS])
{
	for (size_t i = 0; i < PAIRS; i++) {
		ret[i].runs_per_io = sum->ours[i].n / sum->empty[0].n;
		ret[i].ours_ns = mean_ns(&sum->ours[i]);
		ret[i].empty_ns = mean_ns(&sum->empty[i]);
		ret[i].added_ns = (ret[i].ours_ns - ret[i].empty_ns) * ret[i].runs_per_io;
	}
}

/* False: fio failed. */
static bool run_round(const struct pair *pairs, char **options, int n, struct cost ret[PAIRS])
{
	struct sample before, after, sum = { 0 };
	int status;

	take_sample(pairs, &before);
	status = run_fio(options, n);
	take_sample(pairs, &after);
	add_sample(&sum, &before, &after);
	if (status || sum.empty[0].n < 1) {
		fprintf(stderr, "trace-cost: fio failed (wait status %d)\n", status);
		return false;
	}
	price(&sum, ret);
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

static bool measure(const struct pair *pairs, char **options, int n)
{
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	struct cost costs[ROUNDS][PAIRS];

	if (stats < 0) {
		fprintf(stderr, "trace-cost: no BPF statistics on this kernel\n");
		return false;
	}
	for (int round = 0; round < ROUNDS; round++)
		if (!run_round(pairs, options, n, costs[round])) {
			close(stats);
			return false;
		}
	close(stats);
	return report(pairs, (const struct cost(*)[PAIRS])costs);
}

static bool find_pairs(struct pair *pairs, uint32_t after)
{
	for (size_t i = 0; i < PAIRS; i++) {
		pairs[i].ours = open_program(pairs[i].program, after);
		if (pairs[i].ours >= 0)
			continue;
		fprintf(stderr, "trace-cost: no %s: did wakegovd start?\n", pairs[i].program);
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct empty *empty = empty__open_and_load();
	uint32_t before = last_program();
	bool within = false;
	pid_t daemon;

	if (!empty || empty__attach(empty) < 0) {
		fprintf(stderr, "trace-cost: the empty programs cannot be loaded: be root\n");
		return EXIT_FAILURE;
	}
	struct pair pairs[PAIRS] = {
		{ "block_io_start", "on_block_io_start", empty->progs.empty_block_io_start, true },
		{ "sched_waking", "on_sched_waking", empty->progs.empty_sched_waking },
		{ "sched_switch", "on_sched_switch", empty->progs.empty_sched_switch },
	};
	daemon = start_daemon();
	if (find_pairs(pairs, before))
		within = measure(pairs, argv + 1, argc - 1);
	kill(daemon, SIGTERM);
	waitpid(daemon, NULL, 0);
	empty__destroy(empty);
	return within ? EXIT_SUCCESS : EXIT_FAILURE;
}
