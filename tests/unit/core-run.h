/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Parts of the core under names that a library has, for test-core-properties, which loads it. */

#include <stdbool.h>
#include <stdint.h>

#include "core/topology.h"
#include "wakegov/util_acct.h"

/*
 * Caps: a domain of four busy CPUs, whose tasks match some of four rules (caps of 30, 45 and 60 %,
 * a floor of 50 %).
 */
struct caps_run_task {
	uint32_t cpu;	  /* 0…3 */
	uint32_t matched; /* bits 0…2: the caps; bit 3: the floor */
	uint32_t counts;  /* its bursts are long */
};

/* The OPP in kHz that the domain is given when they run all at once: 400 MHz to 2 GHz by 200. */
uint32_t caps_run_target_khz(const struct caps_run_task *tasks, uint32_t n_tasks);

/* io_choose_khz() in a domain with these OPPs. */
uint32_t core_run_choose_khz(const uint32_t *opp_khz, uint32_t n_opps, uint32_t capacity,
			     uint32_t ratio, uint32_t slack_ppm, uint32_t min_khz,
			     uint32_t max_khz);
uint32_t core_run_level(uint32_t khz, uint32_t max_khz, uint32_t capacity);

void account_run_cpu(struct account_cpu *cpu, uint64_t now_ns);
uint32_t account_run_util_q(const struct account_cpu *cpu);
/* NULL tasks are those of which nothing is known. */
void account_run_switch(struct account_cpu *cpu, struct account_task *prev, bool sleeps,
			uint32_t next, struct account_task *next_task, uint64_t now_ns);
/* The tick that meets the task. */
void account_run_tick(struct account_cpu *cpu, struct account_task *task, uint64_t now_ns);
/* Both CPUs have heard of it afterwards. */
void account_run_move(struct account_task *task, struct account_cpu *from, struct account_cpu *to,
		      uint64_t now_ns);
