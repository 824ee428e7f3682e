/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the parts of the model call in each other; sim.c hands events to them. */

#include "sim/sim.h"

enum sim_event_type {
	SIM_EVENT_CPU,	      /* the work or the slice of a CPU is over */
	SIM_EVENT_TICK,	      /* of a CPU */
	SIM_EVENT_COMPLETION, /* a request of a thread is done */
	SIM_EVENT_WAKE,	      /* a thread has thought */
	SIM_EVENT_FREQUENCY,  /* a domain has changed */
	SIM_EVENT_THERMAL_ON,
	SIM_EVENT_THERMAL_OFF,
	SIM_EVENT_GOVERNOR,
};

/* Puts an event in; without memory, sim->error says so. */
void sim_add_event(struct sim *sim, uint64_t at_ns, enum sim_event_type type, uint32_t index,
		   uint64_t generation);

/* A request is its thread's index, in events and interrupts. */
static inline struct sim_thread *sim_sender(struct sim *sim, uint32_t request)
{
	return &sim->threads[request];
}

/* cpu.c: what a CPU does, and when it is done. */
void sim_cpu_init(struct sim_cpu *cpu, uint32_t index, uint32_t domain);
void sim_cpu_account(struct sim *sim, struct sim_cpu *cpu);
void sim_cpu_plan(struct sim *sim, struct sim_cpu *cpu);
void sim_cpu_enqueue(struct sim *sim, struct sim_cpu *cpu, struct sim_thread *thread);
void sim_cpu_interrupt(struct sim *sim, struct sim_cpu *cpu, uint32_t request);
void sim_cpu_on_event(struct sim *sim, struct sim_cpu *cpu, uint64_t generation);
void sim_cpu_on_tick(struct sim *sim, struct sim_cpu *cpu);

/* placement.c: where a thread starts, and where a woken one goes. */
void sim_place_all(struct sim *sim);
uint32_t sim_place_woken(const struct sim *sim, const struct sim_thread *thread);

/* thread.c: what a thread does next. */
void sim_thread_init(const struct sim *sim, struct sim_thread *thread,
		     const struct workload_group *group, bool first);
/* Whether it begins when another forks it. */
bool sim_thread_is_child(const struct sim_thread *thread);
void sim_thread_advance(struct sim *sim, struct sim_thread *thread);
void sim_thread_complete(struct sim *sim, struct sim_thread *thread);
/* waker: NULL for a timer or a device. */
void sim_thread_wake(struct sim *sim, struct sim_thread *thread, const struct sim_thread *waker);
/* The end of its first wait, sleep = 0, or of the sleep with that number. */
void sim_thread_on_event(struct sim *sim, struct sim_thread *thread, uint64_t sleep);
uint64_t sim_thread_on_cpu_ns(const struct sim *sim, const struct sim_thread *thread);

/* device.c */
int sim_device_init(struct sim_device *device, const struct platform_device *info, uint64_t seed,
		    uint32_t index);
void sim_device_deinit(struct sim_device *device);
void sim_device_account(struct sim *sim, struct sim_device *device);
void sim_device_submit(struct sim *sim, struct sim_device *device, uint32_t request, uint32_t cpu);
void sim_device_complete(struct sim *sim, struct sim_device *device, struct sim_thread *thread);

/* frequency.c */
void sim_domain_init(struct sim_domain *domain, const struct platform_domain *info);
void sim_domain_account(struct sim *sim, struct sim_domain *domain);
void sim_domain_on_event(struct sim *sim, uint32_t domain);
void sim_domain_limit(struct sim *sim, uint32_t domain, uint32_t percent);
