// SPDX-License-Identifier: GPL-2.0-only
/* Names of threads, and this process: its memory, its cost, its capabilities. */
#include "daemon/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/sysfs.h"

#define OWN_MAPPING_BYTES (32 * 1024)
#define KEPT_CAPABILITIES (1ULL << CAP_SYS_NICE | 1ULL << CAP_SYS_RAWIO)

const char *process_name(uint32_t pid, const char *known, char buffer[static PROCESS_COMM_SIZE])
{
	_cleanup_close_ int fd = -1;
	ssize_t length;
	char path[32];

	if (!pid || known[0])
		return pid ? known : NULL;
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? fd : read(fd, buffer, PROCESS_COMM_SIZE);
	if (length <= 0)
		return NULL;
	/* The file ends with a newline. */
	buffer[length - 1] = '\0';
	return buffer;
}

/*
 * A table with its own mapping takes memory only for touched pages. malloc() starts with this
 * threshold for mappings, but raises it when a large block is freed, such as the kernel's BTF: from
 * then on tables would come from the heap, which calloc() has to clear. And a huge page in the
 * place of a few touched small ones is 2 MiB.
 */
void process_limit_memory(void)
{
	if (!mallopt(M_MMAP_THRESHOLD, OWN_MAPPING_BYTES))
		log_debug("malloc() keeps its own threshold for mappings");
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) < 0)
		log_debug("huge pages cannot be refused: %m");
}

uint64_t process_cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ULL +
	       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

uint64_t process_pss_kib(void)
{
	char kib[32];

	sysfs_read_tagged(kib, sizeof(kib), "Pss:", "/proc/self/smaps_rollup");
	return strtoull(kib, NULL, 10);
}

uint64_t process_spare_bytes_in(const char *directory, const char *cgroup)
{
	double limit, used, spare = INFINITY;

	for (size_t length = strlen(cgroup); length > 1; length--) {
		if (cgroup[length] && cgroup[length] != '/')
			continue;
		if (!sysfs_read_number(&limit, "%s%.*s/memory.max", directory, (int)length,
				       cgroup) ||
		    !sysfs_read_number(&used, "%s%.*s/memory.current", directory, (int)length,
				       cgroup))
			continue; /* "max", or no such controller */
		if (limit - used < spare)
			spare = limit > used ? limit - used : 0;
	}
	return isinf(spare) ? UINT64_MAX : (uint64_t)spare;
}

uint64_t process_spare_bytes(void)
{
	uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 16, spare;
	char cgroup[SYSFS_PATH_SIZE];

	if (sysfs_read_tagged(cgroup, sizeof(cgroup), "0::", "/proc/self/cgroup") <= 0)
		return most;
	spare = process_spare_bytes_in(sysfs_cgroup_mount(), cgroup);
	return spare < most ? spare : most;
}

int process_drop_capabilities(uint64_t more)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
	uint64_t kept = KEPT_CAPABILITIES | more;
	int r = syscall(SYS_capget, &header, sets);

	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3 && r == 0; i++) {
		uint32_t mask = kept >> (32 * i);

		sets[i].effective &= mask;
		sets[i].permitted &= mask;
		sets[i].inheritable = 0;
	}
	if (r == 0)
		r = syscall(SYS_capset, &header, sets);
	if (r == 0)
		return 0;
	r = -errno;
	log_error("wakegovd cannot give up its capabilities: %s (systemd: SystemCallFilter= must "
		  "allow capget and capset)",
		  strerror(-r));
	return r;
}
