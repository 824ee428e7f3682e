/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Names of threads, and this process: its memory, its cost, and what it may do. */

#include <stdint.h>

/* As the kernel's TASK_COMM_LEN, with NUL. */
#define PROCESS_COMM_SIZE 16

/*
 * Returns `known` if it is a name and not "", else the thread's present name, in buffer; NULL for
 * pid 0 and for a thread that is gone. The kernel has the name at hand; the files of /proc/PID that
 * read a process's memory can block for ever.
 */
const char *process_name(uint32_t pid, const char *known, char buffer[static PROCESS_COMM_SIZE]);

/*
 * Sets how malloc() and the kernel manage this process's memory. Call it before large allocations.
 * A refused setting only costs memory.
 */
void process_limit_memory(void);

/* User and system time of this process. */
uint64_t process_cpu_us(void);

/* Proportional set size in KiB; 0: not known. */
uint64_t process_pss_kib(void);

/*
 * The memory that this process and its BPF maps may still take: the least that a limit of its
 * cgroup or of one above leaves, or a 16th of the machine's. UINT64_MAX: that is not known.
 */
uint64_t process_spare_bytes(void);
/* The same by the limits of a cgroup below this directory, as "/system.slice/wakegovd.service". */
uint64_t process_spare_bytes_in(const char *directory, const char *cgroup);

/*
 * Drops the capabilities that only the start needs: BPF programs are loaded, and the kernel lets
 * the holder of their descriptors attach them. CAP_SYS_NICE stays for the clamps of tasks,
 * CAP_SYS_RAWIO for the registers, and those in `more`, as bits. Returns 0 or a negative errno,
 * which was logged.
 */
int process_drop_capabilities(uint64_t more);
