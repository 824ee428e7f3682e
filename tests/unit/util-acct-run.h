/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The accounting for test-core-properties: include/wakegov/util_acct.h, whose functions are inline,
 * under names that a library has.
 */

#include <stdint.h>

#include "wakegov/util_acct.h"

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
