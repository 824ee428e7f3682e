/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * CPUs without the scheduler's tick (nohz_full=). A task alone on such a CPU causes neither ticks
 * nor switches, so wakegov cannot see its load, and would leave the CPU at the frequency from
 * before the task began.
 */

#include <stdbool.h>
#include <stdint.h>

struct actuator_domain;

/* Whether policyN has such a CPU; *ret_cpu (may be NULL) is the first of them. */
bool tickless_has(uint32_t policy, uint32_t *ret_cpu);

/*
 * For the backends that set frequencies: 0, or -EOPNOTSUPP with domain->why when the domain has
 * such a CPU.
 */
int tickless_refuse(struct actuator_domain *domain);
