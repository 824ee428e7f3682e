/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The kernel side of wakegov under simulation (bpf/cpu.bpf.h, bpf/task.bpf.h): what it keeps, and
 * when it tells the daemon. wakegov_kernel.c is this side, governor_wakegov.c is the daemon. Slots
 * and the ring buffer never run out here.
 */

#include "record/record.h"
#include "sim/governor.h"
#include "wakegov/abi.h"
#include "wakegov/chain.h"
#include "wakegov/util_acct.h"

/* What bpf/ keeps per CPU. */
struct wakegov_sim_cpu {
	struct account_cpu load;
	uint64_t interrupted_ns; /* when the interrupt of a request last began here */
	bool armed_band, armed_idle;
	struct engine_band band;
	struct input_chain chain; /* the one with the highest need that came lately */
	struct chain_compared compared;
	bool told;
};

/* And per task; a slot is the task that has it. */
struct wakegov_sim_task {
	uint64_t window_ns;
	uint32_t window_waits;
	uint32_t window_starts;
	uint64_t forked_ns; /* 0: it was there from the start */
	struct account_task load;
	struct chain_task chain;
	bool has_chain; /* a place among them */
	bool has_slot;
	uint32_t cpu;
	uint64_t io_waits;
	uint64_t io_starts;
	uint64_t ios; /* from the first, without a slot too */
	uint64_t last_io_ns;
	uint64_t told_move_ns;
	bool told;
	uint32_t device;
	uint32_t disk_depth; /* the mean of its requests in flight before its last sample */
	uint64_t disk_in_flight_ns, disk_completions, disk_ios, disk_ns; /* at its last sample */
	uint64_t disk_told_ns;
	uint64_t in_flight_ns;
	uint64_t interrupts_ns;
};

struct wakegov_sim {
	struct policy policy;
	struct topology *topology;
	struct engine *engine;
	struct recorder *recorder; /* NULL: not recorded */
	uint32_t window_ios;
	struct wakegov_sim_cpu cpus[PLATFORM_CPUS_MAX];
	struct wakegov_sim_task *tasks;
	uint32_t completion_cpus[PLATFORM_DEVICES_MAX];
	bool learns;	   /* a learning period is under way */
	uint64_t round_ns; /* when the daemon runs next; UINT64_MAX: when something happens */
};

/* Has the daemon run at at_ns, or earlier if it was to. */
void wakegov_sim_run_at(struct sim *sim, uint64_t at_ns);

/* What is told takes this long to have the daemon run. */
#define WAKEGOV_SIM_LATENCY_NS 30000ULL

/* Has the daemon look at the CPU. */
void wakegov_sim_tell_cpu(struct sim *sim, struct wakegov_sim_cpu *c);

/* wakegov_chains.c: at a tick that meets a thread, a switch, the wake-up of a thread, and a fork.
 */
void wakegov_sim_chain_tick(struct sim *sim, struct sim_cpu *cpu);
void wakegov_sim_chain_switch(struct sim *sim, struct sim_cpu *cpu, const struct sim_thread *prev);
void wakegov_sim_chain_wake(struct sim *sim, const struct sim_thread *thread);
void wakegov_sim_chain_fork(struct sim *sim, const struct sim_thread *thread,
			    const struct sim_thread *parent);

/* The callbacks of struct sim_governor that the kernel side sees. */
void wakegov_sim_on_switch(struct sim *sim, struct sim_cpu *cpu, struct sim_thread *prev);
void wakegov_sim_on_tick(struct sim *sim, struct sim_cpu *cpu);
void wakegov_sim_on_frequency(struct sim *sim, uint32_t domain);
void wakegov_sim_on_wake(struct sim *sim, struct sim_thread *thread);
void wakegov_sim_on_io_complete(struct sim *sim, struct sim_thread *thread, struct sim_cpu *cpu);
void wakegov_sim_on_io_start(struct sim *sim, struct sim_thread *thread);
void wakegov_sim_on_move(struct sim *sim, struct sim_thread *thread, uint32_t from);
void wakegov_sim_on_fork(struct sim *sim, struct sim_thread *thread, struct sim_thread *parent);
void wakegov_sim_on_exit(struct sim *sim, struct sim_thread *thread, struct sim_thread *parent);
