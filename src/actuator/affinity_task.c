// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/affinity_task.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "shared/sysfs.h"

#define LIST_SIZE 4096 /* the kernel's, of CPU ranges: a page */

int affinity_read(uint32_t pid, struct cpu_mask *ret)
{
	char text[CPU_MASK_TEXT_SIZE + 32];
	int r = sysfs_read_tagged(text, sizeof(text), "Cpus_allowed:\t", "/proc/%u/status", pid);

	/* The task may exit before or during the read. */
	if (r == 0 || r == -ENOENT)
		return -ESRCH;
	if (r < 0)
		return r;
	return cpu_mask_parse(text, ret) ? 0 : -EBADMSG;
}

int affinity_write(uint32_t pid, const struct cpu_mask *mask)
{
	return sched_setaffinity((pid_t)pid, sizeof(*mask), (const cpu_set_t *)mask) < 0 ? -errno
											 : 0;
}

int affinity_read_cpu(uint32_t pid)
{
	char text[1024];
	const char *word;

	if (!sysfs_read_line(text, sizeof(text), "/proc/%u/stat", pid))
		return -ESRCH;
	/* `processor` is field 39. Field 2, the name, may contain blanks and brackets. */
	word = strrchr(text, ')');
	for (int i = 2; word && i < 39; i++)
		word = strchr(word + 1, ' ');
	return word ? (int)strtol(word + 1, NULL, 10) : -EBADMSG;
}

/* cgroup v2 has this file only in groups with the cpuset controller, v1 in all groups. */
static bool read_group(const char *path, struct cpu_mask *ret)
{
	char list[LIST_SIZE];

	if (sysfs_read_line(list, sizeof(list), "/sys/fs/cgroup%s/cpuset.cpus.effective", path))
		return cpu_mask_parse_list(list, ret);
	return sysfs_read_line(list, sizeof(list), "/sys/fs/cgroup/cpuset%s/cpuset.effective_cpus",
			       path) &&
	       cpu_mask_parse_list(list, ret);
}

void affinity_read_cpuset(uint32_t pid, struct cpu_mask *ret)
{
	char path[LIST_SIZE], *slash;

	*ret = cpu_mask_all();
	/* Kernels without cpusets of cgroup v1 have no /proc/PID/cpuset. */
	if (!sysfs_read_line(path, sizeof(path), "/proc/%u/cpuset", pid) &&
	    sysfs_read_tagged(path, sizeof(path), "0::", "/proc/%u/cgroup", pid) <= 0)
		return;
	/* The root group limits nothing; its list merely omits offline CPUs. */
	while (path[0] && strcmp(path, "/") != 0 && !read_group(path, ret)) {
		slash = strrchr(path, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

void affinity_read_online(struct cpu_mask *ret)
{
	char list[LIST_SIZE];

	if (!sysfs_read_line(list, sizeof(list), "/sys/devices/system/cpu/online") ||
	    !cpu_mask_parse_list(list, ret))
		*ret = cpu_mask_all();
}
