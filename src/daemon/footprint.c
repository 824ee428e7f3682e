// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/footprint.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "shared/cleanup.h"
#include "shared/log.h"

#define OWN_MAPPING_BYTES (128 * 1024)

/*
 * A table with its own mapping takes memory only for touched pages. malloc() starts with this
 * threshold for mappings, but raises it when a large block is freed, such as the kernel's BTF: from
 * then on tables would come from the heap, which calloc() has to clear. And a huge page in the
 * place of a few touched small ones is 2 MiB.
 */
void footprint_limit(void)
{
	if (!mallopt(M_MMAP_THRESHOLD, OWN_MAPPING_BYTES))
		log_debug("malloc() keeps its own threshold for mappings");
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) < 0)
		log_debug("huge pages cannot be refused: %m");
}

void footprint_trim(void)
{
	malloc_trim(0);
}

uint64_t footprint_cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ULL +
	       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

uint64_t footprint_pss_kib(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/smaps_rollup", "re");
	unsigned long long kib;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Pss: %llu kB", &kib) == 1)
			return kib;
	return 0;
}
