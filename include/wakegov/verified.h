/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The kernel's verifier checks a global function once, by its prototype, but a static one again in
 * each state of a call. A global one returns an integer and has at most five arguments.
 */
#ifdef __bpf__
#define VERIFIED_ONCE __attribute__((noinline))
#else
#define VERIFIED_ONCE static inline
#endif
