/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Sets of CPUs, as the kernel writes and reads them. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CPU_MASK_CPUS  1024
#define CPU_MASK_WORDS (CPU_MASK_CPUS / 64)
/* The size of a mask as text: 256 digits, a comma between each eight, and a NUL. */
#define CPU_MASK_TEXT_SIZE (CPU_MASK_CPUS / 4 + CPU_MASK_CPUS / 32)

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

/* Reads "ff,00000001", most significant first, as in /proc/PID/status. Returns whether it could. */
bool cpu_mask_parse(const char *text, struct cpu_mask *ret);
/*
 * Writes a mask in this form, without leading zeros and commas; "all" for every CPU, which
 * cpu_mask_parse() accepts too.
 */
void cpu_mask_print(const struct cpu_mask *mask, char ret[static CPU_MASK_TEXT_SIZE]);

/* Reads "0-3,8", as in cpuset.cpus and /sys. False: no such list, or a CPU beyond the last. */
bool cpu_mask_parse_list(const char *text, struct cpu_mask *ret);
/* Writes a mask in this form, cut to size. */
void cpu_mask_print_list(const struct cpu_mask *mask, char *ret, size_t size);
