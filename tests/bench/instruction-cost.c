// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the instructions of each BPF program under loads of one kind each. It is for the timed
 * machine, where an instruction takes four cycles of its CPU's frequency: there the kernel's BPF
 * statistics, in nanoseconds, are a count. tests/bench/instructions runs it.
 *
 * Usage: instruction-cost DEVICE MHZ PROGRAM: a device to read from, the frequency of all CPUs, and
 * a program that does nothing. A line for each program and load: load, program, runs for each
 * event, instructions for each event, less those of an empty program, which have a line of their
 * own at the end. A load's last line has the sum.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/keys.h"
#include "core/settings.h"
#include "native/work.h"
#include "shared/time.h"
#include "tracer/tracer_private.h"

#include "empty.skel.h"

#define CPU		       1 /* of the loads; this program runs on the first */
#define CYCLES_PER_INSTRUCTION 4
#define WARM_US		       100000 /* a task that does I/O is found, and ticks meet those that run */
#define MEASURE_US	       150000 /* four times as long beside pauses: else now 3, now 4 of them */
#define N_MEASURES	       7
#define EMPTY		       WAKEGOV_PROGRAMS /* place of the empty program */

struct runs {
	double n, ns;
};

struct cost {
	double runs, instructions; /* for each event */
};

struct load {
	const char *name;
	const char *event; /* the program that runs once for each; NULL: a read of 4 KiB */
	pid_t (*start)(int file);
	bool learn; /* a learning period */
	enum {
		UNFOLLOWED,
		PAUSED,
		FOLLOWED
	} chains; /* PAUSED: a fifth of the time, as steady ones are */
};

static char *nothing; /* a program that only ends */

/* Two tasks on one CPU that wake each other in turn. */
static pid_t start_switches(int file)
{
	int there[2], back[2];
	bool first;
	pid_t pid;
	char byte = 0;

	(void)file;
	pid = work_start_on("switches", CPU);
	if (pid)
		return pid;
	if (pipe(there) < 0 || pipe(back) < 0)
		_exit(EXIT_FAILURE);
	first = work_start_on("switches", CPU) != 0;
	for (;;) {
		if (first && write(there[1], &byte, 1) != 1)
			_exit(EXIT_FAILURE);
		if (read(first ? back[0] : there[0], &byte, 1) != 1)
			_exit(EXIT_FAILURE);
		if (!first && write(back[1], &byte, 1) != 1)
			_exit(EXIT_FAILURE);
	}
}

static pid_t start_reads(int file)
{
	return work_read("reads", CPU, file, 0, 0);
}

static pid_t start_forks(int file)
{
	pid_t pid = work_start_on("forks", CPU), child;

	(void)file;
	if (pid)
		return pid;
	for (;;) {
		child = fork();
		if (!child)
			_exit(EXIT_SUCCESS);
		waitpid(child, NULL, 0);
	}
}

static pid_t start_execs(int file)
{
	char *argv[] = { nothing, NULL };
	pid_t pid = work_start_on("execs", CPU), child;

	(void)file;
	if (pid)
		return pid;
	for (;;)
		if (posix_spawn(&child, nothing, NULL, NULL, argv, NULL) == 0)
			waitpid(child, NULL, 0);
}

static const struct load loads[] = {
	{ "request-counted", NULL, start_reads },
	{ "request-learnt", NULL, start_reads, .learn = true },
	{ "switch", "sched_switch", start_switches },
	{ "switch-chains", "sched_switch", start_switches, .chains = PAUSED },
	{ "switch-followed", "sched_switch", start_switches, .chains = FOLLOWED },
	{ "fork", "sched_process_exit", start_forks },
	{ "fork-chains", "sched_process_exit", start_forks, .chains = FOLLOWED },
	{ "exec", "sched_process_exec", start_execs },
};

static struct runs runs_of(int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (fd <= 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return (struct runs){ 0 };
	return (struct runs){ .n = info.run_cnt, .ns = info.run_time_ns };
}

/* Of all programs, the empty one last. */
static void take_runs(const struct tracer *tracer, const struct empty *empty,
		      struct runs ret[EMPTY + 1])
{
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		ret[i] = runs_of(tracer->programs.fds[i]);
	ret[EMPTY] = runs_of(bpf_program__fd(empty->progs.empty_sched_switch));
}

/* No daemon reads these events: the programs' own cost is measured. */
static void ignore(void *userdata, const struct wakegov_record *record)
{
	(void)userdata;
	(void)record;
}

/* All CPUs are watched, as a daemon does that governs, and none of them leaves its band. */
static void arm(struct tracer *tracer)
{
	const struct engine_band band = { .watch = true,
					  .high_q = UINT32_MAX,
					  .chain_q = UINT32_MAX };

	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++)
		tracer_arm(tracer, cpu, &band);
}

/* Returns whether the load's event was seen; n_reads is how many reads there were. */
static bool count(const struct load *load, double mhz, uint64_t n_reads, const struct runs *before,
		  const struct runs *after, struct cost ret[WAKEGOV_PROGRAMS])
{
	double floor_ns = (after[EMPTY].ns - before[EMPTY].ns) / (after[EMPTY].n - before[EMPTY].n);
	double events = load->event ? 0 : n_reads;

	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		if (load->event && !strcmp(program_tracepoint(i), load->event))
			events = after[i].n - before[i].n;
	if (events < 1)
		return false;
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++) {
		double n = after[i].n - before[i].n, ns = after[i].ns - before[i].ns;

		ret[i].runs = n / events;
		ret[i].instructions = (ns - n * floor_ns) * mhz / 1000 / CYCLES_PER_INSTRUCTION /
				      events;
	}
	return true;
}

static int compare_costs(const void *a, const void *b)
{
	const struct cost *left = a, *right = b;

	return (left->instructions > right->instructions) -
	       (left->instructions < right->instructions);
}

/* The median of the measurements: an interrupt that falls into a program is counted with it. */
static void report(const struct load *load, struct cost costs[N_MEASURES][WAKEGOV_PROGRAMS])
{
	struct cost of_program[N_MEASURES], *median = &of_program[N_MEASURES / 2];
	double sum = 0;

	for (int i = 0; i < WAKEGOV_PROGRAMS; i++) {
		for (int j = 0; j < N_MEASURES; j++)
			of_program[j] = costs[j][i];
		qsort(of_program, N_MEASURES, sizeof(of_program[0]), compare_costs);
		/* What else the machine does is not the load's. */
		if (median->runs < 0.1)
			continue;
		printf("%-16s %-22s %6.2f %8.1f\n", load->name, program_tracepoint(i), median->runs,
		       median->instructions);
		sum += median->instructions;
	}
	printf("%-16s %-22s %6.2f %8.1f\n", load->name, "all", 1.0, sum);
	fflush(stdout);
}

static void report_empty(const struct empty *empty, double mhz)
{
	struct runs runs = runs_of(bpf_program__fd(empty->progs.empty_sched_switch));

	printf("%-16s %-22s %6.2f %8.1f\n", "empty", "sched_switch", 1.0,
	       runs.ns / runs.n * mhz / 1000 / CYCLES_PER_INSTRUCTION);
}

static bool measure(const struct load *load, struct tracer *tracer, const struct empty *empty,
		    int file, double mhz)
{
	struct cost costs[N_MEASURES][WAKEGOV_PROGRAMS];
	struct runs before[EMPTY + 1], after[EMPTY + 1];
	bool seen = true;
	uint64_t n_reads;
	pid_t pid;

	/* First: a child that has its link would keep a program attached. */
	tracer->programs.bss->chains_pause_ns = load->chains == FOLLOWED ? UINT64_MAX : 0;
	tracer_follow_chains(tracer, load->chains);
	tracer_learn(tracer, load->learn);
	pid = load->start(file);
	/* A look for tasks that never wait, which one that is new begins, is over as well. */
	for (int i = 0; i < 2 * WAKEGOV_LOOK_WINDOWS; i++) {
		usleep(WARM_US);
		tracer_consume(tracer, ignore, NULL);
	}
	arm(tracer);
	usleep(WARM_US);
	for (int i = 0; i < N_MEASURES && seen; i++) {
		take_runs(tracer, empty, before);
		n_reads = work_read_bytes(pid);
		usleep((load->chains == PAUSED ? 4 : 1) * MEASURE_US);
		take_runs(tracer, empty, after);
		n_reads = (work_read_bytes(pid) - n_reads) / WORK_BLOCK_BYTES;
		seen = count(load, mhz, n_reads, before, after, costs[i]);
	}
	work_end(pid);
	if (seen)
		report(load, costs);
	return seen;
}

static struct topology *topology_new(void)
{
	struct topology *topology = calloc(1, sizeof(*topology) + sizeof(topology->domains[0]));

	if (!topology)
		abort();
	topology->n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	topology->n_domains = 1;
	topology->domains[0] = (struct topology_domain){
		.name = "a", .n_opps = 1, .opp_khz = { 1 }, .capacity = TOPOLOGY_CAPACITY_MAX
	};
	return topology;
}

int main(int argc, char **argv)
{
	int file = argc == 4 ? open(argv[1], O_RDONLY | O_DIRECT | O_CLOEXEC) : -1;
	struct topology *topology = topology_new();
	struct empty *empty = empty__open_and_load();
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	const char *why = "needs a device, MHz, a program, and root";
	bool seen = true;
	struct tracer *tracer;
	struct policy policy;

	nothing = argv[argc - 1];
	policy_init(&policy);
	work_pin(0, 0);
	work_start_ordinary(true); /* as programs are */
	if (file < 0 || stats < 0 || !empty || empty__attach(empty) < 0 ||
	    tracer_new(topology, &policy.io_boost, &tracer, &why) < 0) {
		fprintf(stderr, "instruction-cost: %s\n", why);
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (!measure(&loads[i], tracer, empty, file, atof(argv[2]))) {
			fprintf(stderr, "instruction-cost: %s: nothing is seen\n", loads[i].name);
			seen = false;
		}
	report_empty(empty, atof(argv[2]));
	tracer_free(tracer);
	empty__destroy(empty);
	free(topology);
	return seen ? EXIT_SUCCESS : EXIT_FAILURE;
}
