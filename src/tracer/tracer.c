// SPDX-License-Identifier: GPL-2.0-only
/* Loads the kernel side, sets it up, and reads from it; the only subsystem that uses libbpf. */
#include "tracer/tracer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "shared/time.h"
#include "tracer/tracer_private.h"
#include "wakegov/decay.h"

#define MISSED_GAP_NS (50 * NS_PER_MS) /* between two looks at runs that the kernel skipped */
#define MOVE_GAP_NS   NS_PER_MS
/*
 * The most that an entry of task storage takes: 192 bytes of the kernel's allocator for a struct
 * task_run, 192 for the list with the task's first entry, and 8 each for the memory cgroup. Half as
 * many: the memory limit would be reached before the bound.
 */
#define STORED_BYTES 400

static size_t cpus_bytes(const struct tracer *tracer)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (tracer->topology->n_cpus * sizeof(struct wakegov_cpu) + page - 1) / page * page;
}

void tracer_set_policy(struct tracer *tracer, const struct policy_io_boost *policy)
{
	volatile struct wakegov_settings *settings = &tracer->programs.bss->settings;

	settings->window_ns = io_boost_entry_ns(policy);
	settings->move_gap_ns = MOVE_GAP_NS;
	settings->own_tgid = getpid();
	settings->window_ios = policy->enabled ? io_boost_entry_ios(policy) : 0;
}

void tracer_limit_storage(struct tracer *tracer, uint64_t bytes)
{
	tracer->programs.bss->settings.max_stored = bytes / STORED_BYTES;
}

void tracer_set_frequency(struct tracer *tracer, uint32_t cpu, uint32_t khz)
{
	struct wakegov_cpu *shared = &tracer->cpus[cpu];

	shared->freq_khz = khz;
	shared->load.level_q = decay_level_q(shared->load.capacity, khz, shared->max_khz);
}

void tracer_set_measured(struct tracer *tracer, uint32_t cpu, uint32_t khz)
{
	struct wakegov_cpu *shared = &tracer->cpus[cpu];

	shared->load.level_q = decay_level_q(shared->load.capacity, khz, shared->max_khz);
}

void tracer_set_reference(struct tracer *tracer, uint32_t cpu, uint32_t khz)
{
	tracer->cpus[cpu].max_khz = khz;
	tracer_set_frequency(tracer, cpu, tracer->cpus[cpu].freq_khz);
}

bool tracer_chain(const struct tracer *tracer, uint32_t pid, struct chain_task *ret)
{
	uint32_t place = pid % WAKEGOV_CHAIN_PAIRS;
	struct wakegov_chain_pair pair;

	if (bpf_map_lookup_elem(tracer->programs.maps[MAP_CHAINS], &place, &pair) < 0)
		return false;
	for (int i = 0; i < 2; i++)
		if (pair.pids[i] == pid) {
			*ret = pair.chains[i];
			return true;
		}
	return false;
}

bool tracer_piece(const struct tracer *tracer, uint32_t pid, struct piece *ret)
{
	struct chain_task chain;

	if (!tracer_chain(tracer, pid, &chain))
		return false;
	*ret = chain.piece;
	return chain.piece.n;
}

bool tracer_chain_name(const struct tracer *tracer, uint32_t cpu, uint32_t pid,
		       char ret[static TASK_COMM_SIZE])
{
	const volatile struct wakegov_cpu *shared = &tracer->cpus[cpu];

	if (shared->chain.pid != pid)
		return false;
	memcpy(ret, (const void *)shared->chain_comm, sizeof(shared->chain_comm));
	ret[sizeof(shared->chain_comm) - 1] = '\0';
	return true;
}

/* Read in this order, no change in between is missed: its time is written first. */
uint32_t tracer_reported_khz(const struct tracer *tracer, uint32_t cpu, uint64_t *ret_ns)
{
	const struct wakegov_cpu *shared = &tracer->cpus[cpu];
	uint32_t khz = __atomic_load_n(&shared->freq_khz, __ATOMIC_ACQUIRE);

	*ret_ns = __atomic_load_n(&shared->level_since_ns, __ATOMIC_RELAXED);
	return khz;
}

bool tracer_read_limits(const struct tracer *tracer, int fd, struct wakegov_limits *ret)
{
	struct wakegov_limits limits = { .fd = (uint32_t)fd };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &limits, .ctx_size_in = sizeof(limits));

	if (bpf_prog_test_run_opts(tracer->programs.read_limits, &opts) < 0 || !limits.known)
		return false;
	*ret = limits;
	return true;
}

struct wakegov_writer tracer_last_writer(const struct tracer *tracer, uint32_t cpu)
{
	return tracer->cpus[cpu].writer;
}

void tracer_expect_limits(struct tracer *tracer, uint32_t cpu, const struct wakegov_limits *limits)
{
	tracer->cpus[cpu].own_limits = *limits;
}

uint32_t tracer_level_q(const struct tracer *tracer, uint32_t cpu)
{
	return __atomic_load_n(&tracer->cpus[cpu].load.level_q, __ATOMIC_RELAXED);
}

bool tracer_cpu_works(const struct tracer *tracer, uint32_t cpu)
{
	return __atomic_load_n(&tracer->cpus[cpu].load.running, __ATOMIC_RELAXED);
}

/* A CPU counts as running at its highest frequency until the first one is reported. */
static void describe_cpus(struct tracer *tracer)
{
	const struct topology *topology = tracer->topology;

	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++) {
		struct wakegov_cpu *shared = &tracer->cpus[cpu];
		uint32_t domain = topology->cpu_domain[cpu];

		shared->domain = WAKEGOV_NO_DOMAIN;
		shared->cache = WAKEGOV_NO_CACHE;
		shared->load.capacity = TOPOLOGY_CAPACITY_MAX;
		if (domain != TOPOLOGY_NO_DOMAIN) {
			shared->domain = domain;
			shared->load.capacity = topology->domains[domain].capacity;
			shared->max_khz = topology_domain_reference_khz(&topology->domains[domain]);
		}
		shared->load.level_q = DECAY_Q(shared->load.capacity);
	}
}

static int open_channels(struct tracer *tracer, const char **ret_why)
{
	struct wakegov__bss *bss = tracer->programs.bss;
	void *cpus = mmap(NULL, cpus_bytes(tracer), PROT_READ | PROT_WRITE, MAP_SHARED,
			  tracer->programs.maps[MAP_CPUS], 0);

	*ret_why = "the BPF maps cannot be mapped";
	if (cpus == MAP_FAILED)
		return -errno;
	bss->idle_asked_us = bss->idle_held_us = WAKEGOV_IDLE_ANY;
	tracer->cpus = cpus;
	tracer->slots = bss->slots;
	tracer->devices = bss->devices;
	tracer->caches = bss->caches;
	tracer->ring = ring_buffer__new(tracer->programs.maps[MAP_RECORDS], tracer_on_record,
					tracer, NULL);
	return tracer->ring ? 0 : -errno;
}

static int set_up(struct tracer *tracer, const struct policy_io_boost *policy, const char **ret_why)
{
	int r = programs_load(&tracer->programs, tracer->topology->n_cpus, ret_why);

	if (r < 0)
		return r;
	r = open_channels(tracer, ret_why);
	if (r < 0)
		return r;
	describe_cpus(tracer);
	tracer_limit_storage(tracer, INT64_MAX);
	tracer_set_policy(tracer, policy);
	tracer->programs.bss->chains_stopped_ns = time_now_ns();
	r = programs_attach(&tracer->programs, ret_why);
	if (r < 0)
		return r;
	tracer_attach_needed(tracer);
	tracer_attach_starts(tracer);
	return 0;
}

/* The scheduler's tick, which is the resolution of the kernel's coarse clocks. */
static uint64_t tick_ns(void)
{
	struct timespec tick;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick); /* cannot fail */
	return tick.tv_nsec;
}

int tracer_new(const struct topology *topology, const struct policy_io_boost *policy,
	       struct tracer **ret, const char **ret_why)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));
	int r;

	*ret_why = "out of memory";
	if (!tracer)
		return -ENOMEM;
	tracer->topology = topology;
	tracer_look_found(tracer);
	tracer->seen_runs = calloc(topology->n_cpus, sizeof(*tracer->seen_runs));
	tracer->ticked = calloc(topology->n_cpus, sizeof(*tracer->ticked));
	tracer->tick_ns = tick_ns();
	r = tracer->seen_runs && tracer->ticked ? set_up(tracer, policy, ret_why) : -ENOMEM;
	if (r < 0) {
		tracer_free(tracer);
		return r;
	}
	*ret = tracer;
	return 0;
}

struct tracer *tracer_free(struct tracer *tracer)
{
	if (!tracer)
		return NULL;
	ring_buffer__free(tracer->ring);
	if (tracer->cpus)
		munmap(tracer->cpus, cpus_bytes(tracer));
	programs_unload(&tracer->programs);
	free(tracer->seen_runs);
	free(tracer->ticked);
	free(tracer);
	return NULL;
}

int tracer_fd(const struct tracer *tracer)
{
	return tracer->programs.maps[MAP_RECORDS];
}

bool tracer_program(const struct tracer *tracer, uint32_t i, struct tracer_program *ret)
{
	if (i >= WAKEGOV_PROGRAMS)
		return false;
	*ret = (struct tracer_program){
		.name = program_tracepoint(i),
		.state = programs_state(&tracer->programs, i),
		.error = tracer->programs.errors[i],
	};
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++)
		ret->events += tracer->cpus[cpu].events[i];
	return true;
}

void tracer_drops(const struct tracer *tracer, struct tracer_drops *ret)
{
	*ret = (struct tracer_drops){ 0 };
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++) {
		ret->ring += tracer->cpus[cpu].drops_ring;
		ret->slots += tracer->cpus[cpu].drops_slots;
		ret->devices += tracer->cpus[cpu].drops_devices;
	}
	ret->missed = programs_missed(&tracer->programs);
	ret->processes = tracer->programs.bss->processes_refused;
	ret->threads = tracer->programs.bss->stored_refused;
	ret->chains = tracer->programs.bss->chains_refused;
}

bool tracer_clamps_last(const struct tracer *tracer)
{
	return tracer->programs.clamps_last;
}

void tracer_follow_clamps(struct tracer *tracer, bool children, bool own)
{
	volatile struct wakegov_settings *settings = &tracer->programs.bss->settings;

	settings->follow_clamps = children;
	settings->follow_own = own;
	tracer_attach_needed(tracer);
}

void tracer_follow_new_tasks(struct tracer *tracer, bool follow)
{
	tracer->programs.bss->settings.new_tasks = follow;
}

void tracer_stop_chains(struct tracer *tracer, uint64_t now_ns)
{
	struct wakegov__bss *shared = tracer->programs.bss;

	if (!__atomic_exchange_n(&shared->followed_chains, 0, __ATOMIC_SEQ_CST))
		return;
	shared->chains_stopped_ns = now_ns;
}

void tracer_follow_chains(struct tracer *tracer, bool follow)
{
	struct wakegov__bss *shared = tracer->programs.bss;
	volatile uint32_t *generation = &shared->settings.chains;

	if (follow == (*generation != 0))
		return;
	/* The kernel side also begins generations, the first one when a CPU has room. */
	if (follow) {
		*generation = ++tracer->chain_generation;
	} else {
		tracer->chain_generation = __atomic_exchange_n(generation, 0, __ATOMIC_SEQ_CST);
		tracer_stop_chains(tracer, time_now_ns());
	}
	tracer_attach_needed(tracer);
}

uint64_t tracer_lost_changes(struct tracer *tracer)
{
	uint64_t now_ns = time_now_ns(), lost;

	if (now_ns >= tracer->missed_read_ns + MISSED_GAP_NS) {
		tracer->missed_changes = programs_missed_changes(&tracer->programs);
		tracer->missed_read_ns = now_ns;
	}
	lost = tracer->missed_changes;
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++)
		lost += tracer->cpus[cpu].drops_ring;
	return lost;
}
