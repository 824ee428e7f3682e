/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * CPUs without the scheduler's tick (nohz_full=). A task that is alone on one runs on with neither
 * a tick nor a switch, so nothing tells wakegov that it works: the CPU would stay at the clock that
 * it had when the task began.
 */

#include <stdbool.h>
#include <stdint.h>

struct actuator_domain;

/* Whether policyN has such a CPU. ret_cpu, the first of them, may be NULL. */
bool tickless_has(uint32_t policy, uint32_t *ret_cpu);

/*
 * For the backends that set a domain's clock: 0, or -EOPNOTSUPP with domain->why where one of its
 * CPUs has no tick.
 */
int tickless_refuse(struct actuator_domain *domain);
