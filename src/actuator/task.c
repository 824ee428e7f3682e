// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and changes one task: its start time, which identifies it together with the pid, its clamps
 * by sched_setattr(2), and its affinity within its cpuset.
 */
#include "actuator/task.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/sysfs.h"

/* A field of /proc/PID/task/PID/stat, by proc(5). */
#define STAT_SIZE	1024
#define STAT_START	22

#define RT_DEFAULT_FILE "/proc/sys/kernel/sched_util_clamp_min_rt_default"

/* Resets a clamp to the kernel's default. */
#define UCLAMP_RESET   UINT32_MAX

#define FLAG_KEEP_ALL  0x18 /* SCHED_FLAG_KEEP_POLICY | SCHED_FLAG_KEEP_PARAMS */
#define FLAG_CLAMP_MIN 0x20
#define FLAG_CLAMP_MAX 0x40

#define LIST_SIZE      4096 /* a page: the kernel's limit for a list of CPU ranges */

/* struct sched_attr of linux/sched/types.h, which clashes with older glibc's sched.h. */
struct attributes {
	uint32_t size;
	uint32_t sched_policy;
	uint64_t sched_flags;
	int32_t sched_nice;
	uint32_t sched_priority;
	uint64_t sched_runtime;
	uint64_t sched_deadline;
	uint64_t sched_period;
	uint32_t sched_util_min;
	uint32_t sched_util_max;
};

static int read_stat(int fd, char *ret_text, size_t size)
{
	ssize_t n = pread(fd, ret_text, size - 1, 0);

	if (n < 0)
		return -errno;
	ret_text[n] = '\0';
	return n ? 0 : -ESRCH;
}

/*
 * Fields are counted from 1. Field 2, the name, may contain blanks and brackets. The file below
 * task/ is one thread's; the process's own file adds up the times of all its threads, which takes
 * 2 ms for 10,000.
 */
int task_open(uint32_t pid, uint64_t *ret_start)
{
	_cleanup_close_ int fd = -1;
	char text[STAT_SIZE], *word, *end;
	int r;

	snprintf(text, sizeof(text), "/proc/%u/task/%u/stat", pid, pid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	r = read_stat(fd, text, sizeof(text));
	if (r < 0)
		return r;
	word = strrchr(text, ')');
	for (int i = 2; word && i < STAT_START; i++)
		word = strchr(word + 1, ' ');
	if (!word)
		return -EBADMSG;
	*ret_start = strtoull(word + 1, &end, 10);
	return end == word + 1 ? -EBADMSG : take_fd(&fd);
}

bool task_is_alive(int task_fd)
{
	char text[64];

	return read_stat(task_fd, text, sizeof(text)) == 0;
}

static int read_attributes(uint32_t pid, struct attributes *ret)
{
	*ret = (struct attributes){ .size = sizeof(*ret) };
	return syscall(SYS_sched_getattr, pid, ret, sizeof(*ret), 0) < 0 ? -errno : 0;
}

static int write_clamps(uint32_t pid, uint64_t flags, uint32_t min, uint32_t max)
{
	struct attributes attributes = {
		.size = sizeof(attributes),
		.sched_flags = FLAG_KEEP_ALL | flags,
		.sched_util_min = min,
		.sched_util_max = max,
	};

	return syscall(SYS_sched_setattr, pid, &attributes, 0) < 0 ? -errno : 0;
}

static uint32_t default_min_of(const struct attributes *attributes)
{
	double rt_default;

	if (attributes->sched_policy != SCHED_FIFO && attributes->sched_policy != SCHED_RR)
		return UCLAMP_LEAST;
	return sysfs_read_number(&rt_default, RT_DEFAULT_FILE) ? (uint32_t)rt_default : UCLAMP_MOST;
}

int uclamp_read(uint32_t pid, struct uclamp *ret)
{
	struct attributes attributes;
	int r = read_attributes(pid, &attributes);

	if (r < 0)
		return r;
	*ret = (struct uclamp){
		.min_cap = (uint16_t)attributes.sched_util_min,
		.max_cap = (uint16_t)attributes.sched_util_max,
		.default_min = attributes.sched_util_min == default_min_of(&attributes),
	};
	return 0;
}

int uclamp_write(uint32_t pid, struct uclamp from, struct uclamp to)
{
	struct attributes attributes;
	uint32_t min = to.min_cap, max = to.max_cap;
	uint64_t flags = 0;
	int r;

	if (min != from.min_cap) {
		flags |= FLAG_CLAMP_MIN;
		r = read_attributes(pid, &attributes);
		if (r < 0)
			return r;
		if (to.default_min || min == default_min_of(&attributes))
			min = UCLAMP_RESET;
	}
	if (max != from.max_cap)
		flags |= FLAG_CLAMP_MAX;
	if (max == UCLAMP_MOST)
		max = UCLAMP_RESET;
	r = flags ? write_clamps(pid, flags, min, max) : 0;
	/* The kernel's own deadline threads, sugov:N, refuse any change, and no CPU heeds their
	 * clamps. */
	if (r == -EINVAL && read_attributes(pid, &attributes) == 0 &&
	    attributes.sched_policy == SCHED_DEADLINE)
		return -ESRCH;
	return r;
}

int uclamp_probe(void)
{
	struct uclamp own;
	int r = uclamp_read(0, &own);

	if (r < 0)
		return r;
	return write_clamps(0, FLAG_CLAMP_MAX, 0,
			    own.max_cap && own.max_cap < UCLAMP_MOST ? own.max_cap : UCLAMP_RESET);
}

int affinity_read(uint32_t pid, struct cpu_mask *ret)
{
	char list[LIST_SIZE];
	int r = sysfs_read_tagged(list, sizeof(list), "Cpus_allowed_list:\t", "/proc/%u/status",
				  pid);

	/* The task may exit before or during the read. */
	if (r == 0 || r == -ENOENT)
		return -ESRCH;
	if (r < 0)
		return r;
	return cpu_mask_parse_list(list, ret) ? 0 : -EBADMSG;
}

int affinity_write(uint32_t pid, const struct cpu_mask *mask)
{
	return sched_setaffinity((pid_t)pid, sizeof(*mask), (const cpu_set_t *)mask) < 0 ? -errno
											 : 0;
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
