/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Sets of CPUs, as the kernel writes and reads them. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CPU_MASK_CPUS  1024
#define CPU_MASK_WORDS (CPU_MASK_CPUS / 64)
/* Room for any mask as text: the longest has every CPU but each third, "0-1,3-4". */
#define CPU_MASK_TEXT_SIZE (3 * CPU_MASK_CPUS)

/* In the layout of the kernel's masks of unsigned longs. */
struct cpu_mask {
	uint64_t words[CPU_MASK_WORDS];
};

/* Every possible CPU. */
static inline struct cpu_mask cpu_mask_all(void)
{
	struct cpu_mask all;

	memset(&all, 0xff, sizeof(all));
	return all;
}

static inline void cpu_mask_add(struct cpu_mask *mask, uint32_t cpu)
{
	if (cpu < CPU_MASK_CPUS)
		mask->words[cpu / 64] |= 1ULL << cpu % 64;
}

static inline bool cpu_mask_has(const struct cpu_mask *mask, uint32_t cpu)
{
	return cpu < CPU_MASK_CPUS && mask->words[cpu / 64] >> cpu % 64 & 1;
}

static inline bool cpu_mask_equals(const struct cpu_mask *one, const struct cpu_mask *other)
{
	return !memcmp(one, other, sizeof(*one));
}

bool cpu_mask_is_empty(const struct cpu_mask *mask);
struct cpu_mask cpu_mask_and(const struct cpu_mask *one, const struct cpu_mask *other);
/* Whether every CPU of one is in the other. */
bool cpu_mask_is_in(const struct cpu_mask *one, const struct cpu_mask *other);

/*
 * Reads "0-3,8", as in cpuset.cpus, /sys and /proc/PID/status. False: no such list, or a CPU beyond
 * the last.
 */
bool cpu_mask_parse_list(const char *text, struct cpu_mask *ret);
/* Writes a mask in this form, cut to size. */
void cpu_mask_print_list(const struct cpu_mask *mask, char *ret, size_t size);
