/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The model: a discrete-event simulation of one machine under one workload and one governor.
 *
 * CPUs belong to domains that share a clock. Work is counted in cycles of the best CPU; a CPU does
 * khz · work_permille / 1000 of it per millisecond, so work takes C / f and waits do not. A CPU
 * does, in this order: leaving idleness (idle_exit_cycles), interrupts, its current thread. Of the
 * cycles of an I/O a share is interrupt work: it runs where the device's interrupt goes, with the
 * thread asleep. Frequencies change transition_latency after they are asked for; requests during a
 * change take effect after it.
 *
 * Scheduling is first come, first served with a slice per CPU. A woken thread goes to its last CPU
 * if that is idle, else to an idle CPU of the same domain, else to any idle CPU, best first, else
 * queues where it was; there it goes on at once if the current thread has run for the wake-up
 * granularity. Nothing is balanced besides. New threads are spread over the CPUs, those of most or
 * of least capacity first. There is no energy-aware placement: governors differ by frequencies
 * only.
 *
 * A device has a fixed latency that requests pass in parallel, then channels that serve one
 * request at a time, to which requests fall at random (the dies of a flash disk, for random reads),
 * and a highest rate at which it accepts requests.
 *
 * A thread keeps depth requests in flight. What has completed when it gets to run is one batch:
 * batch_cycles once, then for each request its cycles and the next request. When nothing has
 * completed it waits. psync is depth 1. Pauses stop devices (flush) or limit frequencies (thermal).
 *
 * The threads of a chain pass pieces of work on, the last one to the first, whose turn is over when
 * it has a piece again: it begins the next round by its period or after its think time. A client
 * and its servers or a pipeline are chains; with a period and more pieces than are ever on the way
 * arrivals are open. With a time to look, who passes a piece on goes on until the other one, which
 * its wake-up only makes look so much later, has taken it over, as threads of Go do.
 *
 * A fork group is a thread that forks children and waits while it has as many as it may: a shell
 * with one command after the other, or make. A child is a new thread, on an idle CPU where there
 * is one, and ends when it has done its work; it uses the place of one that has ended.
 *
 * What the model leaves out: caches and memory frequency, the governor's own work, deadline tasks.
 *
 * One struct sim is one run. It owns all it points to but platform, workload and the governor's
 * operations. Times are ns since its start, work is in thousandths of a cycle (_mcycles).
 */

#include "sim/event_queue.h"
#include "sim/platform.h"
#include "sim/rng.h"
#include "sim/workload.h"

#define SIM_NO_CPU UINT32_MAX

enum sim_work {
	SIM_WORK_NONE,
	SIM_WORK_IDLE_EXIT,
	SIM_WORK_INTERRUPT,
	SIM_WORK_THREAD,
};

enum sim_thread_state {
	SIM_THREAD_ASLEEP,
	SIM_THREAD_QUEUED,
	SIM_THREAD_RUNNING,
};

enum sim_step {
	SIM_STEP_TAKE,	/* takes what has completed, or waits */
	SIM_STEP_THINK, /* has taken it, and is to think */
	SIM_STEP_SEND,	/* sends a request, passes a piece of work on, or forks */
	SIM_STEP_LOOK,	/* takes the piece of work over for which it was woken */
	SIM_STEP_ON,	/* sees that the piece that it passed on was taken over */
	SIM_STEP_EXIT,	/* ends */
};

/* Totals of a thread on its device, as the kernel side of wakegov could keep them. */
struct sim_host_time {
	uint64_t idle_ns;    /* the device was idle until this thread sent its next request */
	uint64_t running_ns; /* the part of it that the thread ran on a CPU */
};

struct sim_thread {
	uint32_t index;
	const struct workload_group *group;
	enum sim_thread_state state;
	enum sim_step step; /* what it does when its present piece of work is done */
	uint32_t cpu;	    /* where it is, or was last */
	bool in_iowait;	    /* asleep, or woken and not yet run, for I/O */
	uint32_t ready;	    /* completed requests, or pieces of a chain's work, not taken */
	uint32_t batch;	    /* requests that it still sends in this batch */
	uint64_t mcycles;   /* left of its present piece of work */
	uint64_t sleeps;    /* that an event ends, so far */
	uint64_t turn_ns;   /* that it ran since it got the CPU */
	uint64_t asleep_ns, asleep_since_ns;
	uint64_t run_ns;	    /* that it ran in all, without interrupts */
	uint64_t since_ns;	    /* of its present time on the CPU, interrupts and all */
	uint64_t on_cpu_ns;	    /* of those before */
	uint64_t on_cpu_at_idle_ns; /* when its device got idle */
	uint64_t io_waits;
	uint64_t io_starts;
	uint64_t io_done;
	uint64_t rounds;   /* of a busy thread, or of a chain, at its first */
	uint64_t round_ns; /* when its last one began */
	uint64_t last_io_ns;
	struct sim_host_time host;
	struct sim_thread *next;	/* in a run queue */
	struct sim_thread *successor;	/* in its chain; of a child its parent */
	struct sim_thread *goes_on;	/* until this one has taken over; NULL: none does */
	bool rounds_here;		/* it is the first of its chain, or has children */
	const struct sim_thread *waker; /* who last woke it; NULL: a timer or a device */
};

struct sim_cpu {
	uint32_t index;
	uint32_t domain;
	struct sim_thread *current; /* NULL: the idle task */
	struct sim_thread *first, *last;
	uint32_t n_queued;
	enum sim_work work;
	uint64_t mcycles;  /* left of an idle exit or interrupt */
	uint64_t since_ns; /* accounted up to then */
	uint64_t generation;
	uint32_t *interrupts; /* a ring of the requests that completed */
	uint32_t first_interrupt, n_interrupts, size;
	bool ticking;
	bool chooses; /* its next work is chosen in a moment */
	/* Totals. */
	uint64_t thread_ns;
	uint64_t interrupt_ns;
	uint64_t idle_exit_ns;
	uint64_t runnable_ns; /* the integral of threads that run or queue */
};

struct sim_domain {
	const struct platform_domain *info;
	uint32_t opp;
	uint32_t next_opp; /* what it changes to */
	uint32_t asked_khz;
	uint32_t limit_khz; /* thermal */
	bool changing;
	uint64_t since_ns;
	/* Totals. */
	uint64_t changes;
	uint64_t opp_ns[DOMAIN_OPPS_MAX];
	uint64_t busy_ns[DOMAIN_OPPS_MAX]; /* of all its CPUs */
};

struct sim_device {
	const struct platform_device *info;
	struct sim_rng rng;
	uint64_t *channel_free_ns;
	uint64_t accept_ns;   /* when it accepts the next request */
	uint64_t accept_rest; /* of the division by the highest rate */
	uint32_t depth;
	uint64_t idle_since_ns;
	/* Totals. */
	uint64_t completions;
	uint64_t idle_ns;
	uint64_t in_flight_ns; /* the integral of depth */
	uint64_t since_ns;
};

struct sim_governor;
struct recorder;
struct policy;

struct sim {
	const struct platform *platform;
	const struct workload *workload;
	const struct sim_governor *governor;
	void *governor_data;	     /* the governor's own */
	struct recorder *recorder;   /* of wakegov's engine; NULL for none. Borrowed. */
	const struct policy *policy; /* of wakegov's engine; NULL: the built-in one. Borrowed. */
	uint64_t governor_generation;
	uint64_t now_ns;
	struct sim_events events;
	int error; /* ends the run: -ENOMEM; -ELOOP: time does not go on */
	struct sim_rng rng;
	struct sim_cpu cpus[PLATFORM_CPUS_MAX];
	struct sim_domain domains[PLATFORM_DOMAINS_MAX];
	struct sim_device devices[PLATFORM_DEVICES_MAX];
	struct sim_thread *threads;
	uint32_t n_threads;
};

/*
 * A run that is set up, with its threads about to start. Returns 0 and *ret, or a negative errno.
 * fixed_khz, one per domain, is for the governor "fixed" and may be NULL otherwise. recorder and
 * policy, which only wakegov makes use of, may be NULL, and are the caller's to end.
 */
int sim_new(const struct platform *platform, const struct workload *workload,
	    const struct sim_governor *governor, const uint32_t *fixed_khz, uint64_t seed,
	    struct recorder *recorder, const struct policy *policy, struct sim **ret);
struct sim *sim_free(struct sim *sim);

/* Lets everything happen up to end_ns, and accounts up to then. Returns 0 or -ENOMEM. */
int sim_run(struct sim *sim, uint64_t end_ns);

/*
 * For governors: asks for the lowest OPP at or above khz within the limit. It is there after the
 * transition latency; the same OPP as before is no change.
 */
void sim_request_khz(struct sim *sim, uint32_t domain, uint32_t khz);

/* For governors: calls on_timer at at_ns, in place of any earlier call; UINT64_MAX: never. */
void sim_set_timer(struct sim *sim, uint64_t at_ns);

static inline uint32_t sim_khz(const struct sim *sim, uint32_t domain)
{
	const struct sim_domain *d = &sim->domains[domain];

	return d->info->opps[d->opp].khz;
}

#define sim_for_each_cpu(sim, cpu, of_domain)                        \
	for (uint32_t cpu = 0; cpu < (sim)->platform->n_cpus; cpu++) \
		if ((sim)->platform->cpu_domain[cpu] == (of_domain))
