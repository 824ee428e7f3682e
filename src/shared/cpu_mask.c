// SPDX-License-Identifier: GPL-2.0-only
/* Sets of CPUs, parsed and printed as the kernel writes them. */
#include "shared/cpu_mask.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

bool cpu_mask_is_empty(const struct cpu_mask *mask)
{
	for (uint32_t i = 0; i < CPU_MASK_WORDS; i++)
		if (mask->words[i])
			return false;
	return true;
}

struct cpu_mask cpu_mask_and(const struct cpu_mask *one, const struct cpu_mask *other)
{
	struct cpu_mask both;

	for (uint32_t i = 0; i < CPU_MASK_WORDS; i++)
		both.words[i] = one->words[i] & other->words[i];
	return both;
}

bool cpu_mask_is_in(const struct cpu_mask *one, const struct cpu_mask *other)
{
	struct cpu_mask both = cpu_mask_and(one, other);

	return cpu_mask_equals(&both, one);
}

bool cpu_mask_parse_list(const char *text, struct cpu_mask *ret)
{
	struct cpu_mask mask = { 0 };

	while (*text && *text != '\n') {
		unsigned long first, last;
		char *end;

		if (!isdigit((unsigned char)*text))
			return false;
		first = last = strtoul(text, &end, 10);
		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtoul(end + 1, &end, 10);
		if (last >= CPU_MASK_CPUS || first > last || !strchr(",\n", *end))
			return false;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			cpu_mask_add(&mask, cpu);
		text = *end == ',' ? end + 1 : end;
	}
	*ret = mask;
	return true;
}

void cpu_mask_print_list(const struct cpu_mask *mask, char *ret, size_t size)
{
	size_t used = 0;

	ret[0] = '\0';
	for (uint32_t cpu = 0; cpu < CPU_MASK_CPUS && used < size; cpu++) {
		uint32_t first = cpu;

		if (!cpu_mask_has(mask, cpu))
			continue;
		while (cpu_mask_has(mask, cpu + 1))
			cpu++;
		used += snprintf(ret + used, size - used, used ? ",%u" : "%u", first);
		if (cpu > first && used < size)
			used += snprintf(ret + used, size - used, "-%u", cpu);
	}
}
