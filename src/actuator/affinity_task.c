// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/affinity_task.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "shared/cleanup.h"
#include "shared/sysfs.h"

#define LIST_SIZE 4096 /* the kernel's, of CPU ranges: a page */

int affinity_read(uint32_t pid, struct cpu_mask *ret)
{
	_cleanup_fclose_ FILE *file = NULL;
	char text[CPU_MASK_TEXT_SIZE + 32];

	snprintf(text, sizeof(text), "/proc/%u/status", pid);
	file = fopen(text, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	while (fgets(text, sizeof(text), file)) {
		if (strncmp(text, "Cpus_allowed:\t", 14) != 0)
			continue;
		text[strcspn(text, "\n")] = '\0';
		return cpu_mask_parse(text + 14, ret) ? 0 : -EBADMSG;
	}
	return -ESRCH; /* it ended while it was read */
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
	/* The 39th word; the second, the name, may have blanks and brackets of its own. */
	word = strrchr(text, ')');
	for (int i = 2; word && i < 39; i++)
		word = strchr(word + 1, ' ');
	return word ? (int)strtol(word + 1, NULL, 10) : -EBADMSG;
}

/* cgroup v2 has the file in the groups for which the controller is on, v1 in every one. */
static bool read_group(const char *path, struct cpu_mask *ret)
{
	char list[LIST_SIZE];

	if (sysfs_read_line(list, sizeof(list), "/sys/fs/cgroup%s/cpuset.cpus.effective", path))
		return cpu_mask_parse_list(list, ret);
	return sysfs_read_line(list, sizeof(list), "/sys/fs/cgroup/cpuset%s/cpuset.effective_cpus",
			       path) &&
	       cpu_mask_parse_list(list, ret);
}

/*
 * The path of its cgroup: in the hierarchy of cpusets where v1 has them. "" where it is not known.
 * Kernels without v1's cpusets have no /proc/PID/cpuset.
 */
static void read_group_path(uint32_t pid, char ret[static LIST_SIZE])
{
	_cleanup_fclose_ FILE *file = NULL;
	char name[64];

	if (sysfs_read_line(ret, LIST_SIZE, "/proc/%u/cpuset", pid))
		return;
	snprintf(name, sizeof(name), "/proc/%u/cgroup", pid);
	file = fopen(name, "re");
	while (file && fgets(ret, LIST_SIZE, file)) {
		if (strncmp(ret, "0::", 3) != 0)
			continue;
		ret[strcspn(ret, "\n")] = '\0';
		memmove(ret, ret + 3, strlen(ret + 3) + 1);
		return;
	}
	ret[0] = '\0';
}

void affinity_read_cpuset(uint32_t pid, struct cpu_mask *ret)
{
	char path[LIST_SIZE], *slash;

	*ret = cpu_mask_all();
	read_group_path(pid, path);
	/* The root is no limit: its list leaves out what is offline. */
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
