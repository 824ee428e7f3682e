/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Child processes that give a kernel something to trace. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORK_FILE_BYTES	 (16 << 20)
#define WORK_BLOCK_BYTES 4096 /* of each read */

/*
 * A file of WORK_FILE_BYTES in the current directory, open for direct reading and without a name
 * that outlives the test. Returns its descriptor, or a negative errno: no direct I/O here.
 */
int work_file_new(void);

/*
 * Computes on one CPU for ever and lets nobody else run there, for which it must be ended within
 * half a second, before the kernel lets others.
 */
pid_t work_spin(uint32_t cpu);

/* Sleeps for moments, on one CPU: each of them is two switches, whatever other work the disk has.
 */
pid_t work_nap(const char *name, uint32_t cpu);

/* Reads 4 KiB blocks directly, with a pause after each; n = 0: for ever. Its comm is name. */
pid_t work_read(const char *name, uint32_t cpu, int file, uint32_t n, uint32_t pause_us);

/* Reads on one CPU, for so long blocks of 4 KiB, then as long of 32, and so on. */
pid_t work_read_sizes(const char *name, uint32_t cpu, int file, uint32_t change_ms);

/* What the kernel accounts to it. */
uint64_t work_read_bytes(pid_t pid);

/*
 * How often it got a CPU and how often the CPU was taken from it. A task that computes had its CPU
 * for as long as this stays.
 */
uint64_t work_switches(pid_t pid);

/* A queue of requests by io_uring. */
struct work_uring {
	const char *name;
	uint32_t cpu;
	int file;
	uint32_t depth;
	uint32_t compute_us; /* after each wait */
	bool batches;	     /* waits for all before it sends again; else keeps the queue full */
	bool no_iowait;
	bool by_workers; /* the kernel's, however soon they could be sent */
};

/* Whether the kernel has IORING_ENTER_NO_IOWAIT, since 6.15. */
bool work_uring_has_no_iowait(void);
pid_t work_uring(const struct work_uring *work);

/* Computes; not what the clock does while others run. */
void work_burn(uint32_t us);

/* Reads from two files in turn. */
pid_t work_read_two(const char *name, uint32_t cpu, int first, int second);

/* As work_read() for ever, and computes for so long after each block. */
pid_t work_compute(const char *name, uint32_t cpu, int file, uint32_t compute_us);

/* Drops the file from the page cache and reads it by page faults at random, again and again. */
pid_t work_fault(const char *name, int file);
/* The same by read() in order, which the kernel reads ahead of. */
pid_t work_read_buffered(const char *name, int file);
/* Writes blocks into the page cache, and leaves the disk to the kernel's own threads. */
pid_t work_write_buffered(const char *name, int file);

/* Starts fio on the file, before others, with its job's options, the last of them NULL. */
pid_t work_fio(int file, const char *const options[]);

/* Starts a program, without its output. */
pid_t work_exec(const char *const argv[]);

/* Begins a child that ends with the test; as fork(). */
pid_t work_start(void);
/*
 * The same on one CPU, before others: on a busy machine too what it is seen to do is its own, and
 * not how long it waited for its CPU.
 */
pid_t work_start_on(const char *name, uint32_t cpu);
/* From here on this thread runs before those of lower priority, and what it starts on a CPU. */
void work_before_others(int priority);
/* Whether what is begun from here on is ordinary: the tracer accounts real-time tasks at each
 * switch. */
void work_start_ordinary(bool ordinary);

/* Ends a child that the functions above began, and waits for it. Returns its wait status. */
int work_end(pid_t pid);
/* Waits for it to end by itself. */
int work_wait(pid_t pid);

/*
 * All that there still are: what a test that failed leaves would keep the next one from its CPU,
 * for ever, where it spins there before all others.
 */
void work_end_all(void);

void work_pin(pid_t pid, uint32_t cpu);
