/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The kernel side of wakegov under simulation (bpf/cpu.bpf.h, bpf/task.bpf.h): what it keeps, and
 * when it tells the daemon. wakegov_kernel.c is this side, governor_wakegov.c is the daemon. Slots
 * and the ring buffer never run out here.
 */

#include "record/recorder.h"
#include "sim/governor.h"
#include "wakegov/abi.h"
#include "wakegov/chain.h"
#include "wakegov/util_acct.h"

/* What bpf/ keeps per CPU. */
struct wakegov_sim_cpu {
	struct account_cpu load; /* interrupts are not told to governors here */
	bool armed_band, armed_idle;
	struct engine_band band;
	struct input_chain chain; /* the one with the highest need that came lately */
	bool told;
};

/* And per task; a slot is the task that has it. */
struct wakegov_sim_task {
	uint64_t window_ns;
	uint32_t window_waits;
	uint32_t window_starts;
	struct account_task load;
	struct chain_task chain;
	bool has_slot;
	uint32_t cpu;
	uint64_t io_waits;
	uint64_t io_starts;
	uint64_t ios; /* those that were followed from their start */
	uint64_t last_io_ns;
	uint64_t told_move_ns;
	bool told;
	uint32_t device;
	uint32_t depth;	    /* its followed requests in flight */
	uint32_t max_depth; /* since it was sampled */
	uint64_t depth_since_ns;
	uint64_t in_flight_ns;
	uint64_t completed_ns; /* of the last one, while there is none */
	uint64_t sleep_ns;     /* since when it sleeps of its own accord; 0: it does not */
	uint64_t think_ns;     /* that it did so since completed_ns */
	uint64_t host_ns;
	uint64_t host_cpu_ns;
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
	uint32_t period; /* in which requests are followed, their mark; 0: only counted */
	uint32_t last_period;
	uint64_t round_ns; /* when the daemon runs next; UINT64_MAX: when something happens */
};

/* Begins or ends to follow requests, as tracer_follow_requests(). */
void wakegov_sim_follow_requests(struct sim *sim, bool follow);

/* Has the daemon run at at_ns, or earlier if it was to. */
void wakegov_sim_run_at(struct sim *sim, uint64_t at_ns);

/* What is told takes this long to have the daemon run. */
#define WAKEGOV_SIM_LATENCY_NS 30000ULL

/* Has the daemon look at the CPU. */
void wakegov_sim_tell_cpu(struct sim *sim, struct wakegov_sim_cpu *c);

/* wakegov_chains.c: at a tick that meets a thread, a switch, and the wake-up of a thread. */
void wakegov_sim_chain_tick(struct sim *sim, struct sim_cpu *cpu);
void wakegov_sim_chain_switch(struct sim *sim, struct sim_cpu *cpu, const struct sim_thread *prev);
void wakegov_sim_chain_wake(struct sim *sim, const struct sim_thread *thread);

/* The callbacks of struct sim_governor that the kernel side sees. */
void wakegov_sim_on_switch(struct sim *sim, struct sim_cpu *cpu, struct sim_thread *prev);
void wakegov_sim_on_tick(struct sim *sim, struct sim_cpu *cpu);
void wakegov_sim_on_interrupt_entry(struct sim *sim, struct sim_cpu *cpu);
void wakegov_sim_on_interrupt_exit(struct sim *sim, struct sim_cpu *cpu);
void wakegov_sim_on_frequency(struct sim *sim, uint32_t domain);
void wakegov_sim_on_wake(struct sim *sim, struct sim_thread *thread);
void wakegov_sim_on_sleep(struct sim *sim, struct sim_thread *thread);
void wakegov_sim_on_io_complete(struct sim *sim, struct sim_thread *thread, struct sim_cpu *cpu,
				uint32_t mark);
void wakegov_sim_on_io_start(struct sim *sim, struct sim_thread *thread);
void wakegov_sim_on_move(struct sim *sim, struct sim_thread *thread, uint32_t from);
