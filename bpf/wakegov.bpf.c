// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's half of wakegov: it aggregates, and tells user space only what changes a decision.
 * Loaded and read by src/tracer; the data both share is in include/wakegov/abi.h.
 */
#include "block.bpf.h"
#include "cpu.bpf.h"
#include "facts.bpf.h"
#include "hold.bpf.h"
#include "process.bpf.h"
#include "task.bpf.h"

char LICENSE[] SEC("license") = "GPL";
