// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel side of wakegov. It aggregates, and emits a record only for what changes a decision.
 * src/tracer loads and reads it; include/wakegov/abi.h has the data that both sides share.
 */
#include "block.bpf.h"
#include "cpu.bpf.h"
#include "facts.bpf.h"
#include "frequency.bpf.h"
#include "process.bpf.h"
#include "task.bpf.h"
#include "tick.bpf.h"

char LICENSE[] SEC("license") = "GPL";
