/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What the BPF programs and the tracer share. The maps of CPUs and task slots are mapped into the
 * daemon: it reads them without a system call. Every field has one writing side, named below.
 */

#include <linux/types.h>

#define WAKEGOV_SLOTS	    1024 /* tasks that do I/O fast enough to be told about */
#define WAKEGOV_SLOT_PROBES 16	 /* slots tried for a task before it is counted as dropped */
#define WAKEGOV_RING_BYTES  (64 * 1024)
#define WAKEGOV_COMM_SIZE   16
#define WAKEGOV_NO_DOMAIN   0xffffffffU

/* The programs, in the order in which `wakegovctl status` lists them. */
enum wakegov_program {
	WAKEGOV_SCHED_SWITCH,
	WAKEGOV_SCHED_WAKING,
	WAKEGOV_SCHED_MIGRATE,
	WAKEGOV_PROCESS_FORK,
	WAKEGOV_PROCESS_EXEC,
	WAKEGOV_PROCESS_EXIT,
	WAKEGOV_CPU_FREQUENCY,
	WAKEGOV_CPU_LIMITS,
	WAKEGOV_TICK,
	WAKEGOV_BLOCK_START,
	WAKEGOV_BLOCK_ISSUE,
	WAKEGOV_PROGRAMS,
};

/* When a CPU is to be told about; the kernel side clears it with the telling. */
enum wakegov_arm {
	WAKEGOV_ARM_BAND = 1 << 0, /* its utilisation leaves the band */
	WAKEGOV_ARM_IDLE = 1 << 1, /* it goes idle */
};

struct wakegov_cpu {
	/* written by the kernel side, on the CPU itself */
	__u64 updated_ns;    /* util_q is as of then; CLOCK_MONOTONIC */
	__u64 idle_since_ns; /* of the present or the last idle time, less what blips took off it */
	__u64 busy_since_ns; /* of the present or the last time with work */
	__u32 util_q;	     /* capacity · 2^20, see decay.h */
	__u32 running_pid;   /* 0: idle */
	__u64 events[WAKEGOV_PROGRAMS];
	__u64 drops_ring;  /* records that found the ring buffer full */
	__u64 drops_slots; /* tasks that found no slot, or no task storage */

	/* written by the kernel side on a frequency change; first by the daemon */
	__u32 freq_khz;
	__u32 level_q; /* at which it accrues utilisation while it runs */

	/* written by the daemon */
	__u32 max_khz; /* 0: the CPU has no known frequency */
	__u32 capacity;
	__u32 domain;
	__u32 band_low_q;
	__u32 band_high_q;
	__u32 armed; /* enum wakegov_arm; cleared by the kernel side */
} __attribute__((aligned(64)));

/* A task whose I/O rate crossed the threshold. Taken by the kernel side, given back by the daemon.
 */
struct wakegov_slot {
	__u32 pid; /* 0: free */
	__u32 tgid;
	__u32 cpu;
	__u32 exited;
	__u64 io_waits;	 /* wake-ups from an I/O wait */
	__u64 io_starts; /* block requests that it started */
	__u64 last_io_ns;
	__u64 told_move_ns;
	char comm[WAKEGOV_COMM_SIZE];
} __attribute__((aligned(64)));

enum wakegov_record_type {
	WAKEGOV_RECORD_CPU,    /* cpu left its band, or went idle */
	WAKEGOV_RECORD_TASK,   /* slot was taken, moved to another domain, or its task exited */
	WAKEGOV_RECORD_LIMITS, /* the limits of cpu's domain changed */
};

struct wakegov_record {
	__u32 type;
	__u32 cpu;
	__u32 slot;
	__u32 pad;
};

/* Settings that a reload may change; in the BPF object's .bss, which is mapped. */
struct wakegov_settings {
	__u64 window_ns;   /* over which I/O is counted */
	__u32 window_ios;  /* that many in a window make a task worth telling; 0: none does */
	__u32 own_tgid;	   /* the daemon's process, never told about */
	__u64 move_gap_ns; /* least time between two records of one task's moves */
};
