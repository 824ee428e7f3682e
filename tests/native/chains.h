/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Chains as the kernel side has them, of the native tests. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wakegov/chain.h"

struct native;

/*
 * tests/lab/chainload, for half a minute, before others, as to wait for a CPU is to be on. A
 * real-time one, which must leave time to the kernel's threads, waits for none.
 */
pid_t chains_start(const char *mode, bool realtime);

/*
 * Follows chains also where other work keeps all CPUs full: of one without a domain it is not known
 * that chains could ask for no more.
 */
void chains_follow(const struct native *native);

/*
 * They are followed for a while, as if one had changed; settled: not so for a while from the next
 * switch on, as if none had.
 */
void chains_settle(const struct native *native, bool settled);

/* Looks at the chains of the process's threads that are known. */
void chains_look(const struct native *native, pid_t process,
		 void (*see)(uint32_t pid, const struct chain_task *chain, void *userdata),
		 void *userdata);
