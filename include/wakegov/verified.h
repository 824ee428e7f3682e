/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The kernel's verifier checks a global function once, by its prototype, and any other again for
 * each state in which it is called. It returns an integer and takes five arguments at most.
 */
#ifdef __bpf__
#define VERIFIED_ONCE __attribute__((noinline))
#else
#define VERIFIED_ONCE static inline
#endif
