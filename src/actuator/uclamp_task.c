// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/uclamp_task.h"

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

#define RT_DEFAULT_FILE "/proc/sys/kernel/sched_util_clamp_min_rt_default"

/* Resets a clamp to the kernel's default. */
#define UCLAMP_RESET   UINT32_MAX

#define FLAG_KEEP_ALL  0x18 /* SCHED_FLAG_KEEP_POLICY | SCHED_FLAG_KEEP_PARAMS */
#define FLAG_CLAMP_MIN 0x20
#define FLAG_CLAMP_MAX 0x40

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

/* The kernel's default minimum for a task of this scheduling policy. */
static uint32_t default_min(uint32_t sched_policy)
{
	double min;

	if (sched_policy != SCHED_FIFO && sched_policy != SCHED_RR)
		return UCLAMP_LEAST;
	return sysfs_read_number(&min, RT_DEFAULT_FILE) ? (uint32_t)min : UCLAMP_MOST;
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
	};
	return 0;
}

int uclamp_write(uint32_t pid, struct uclamp from, struct uclamp to)
{
	struct attributes attributes;
	uint32_t min = to.min_cap, max = to.max_cap;
	uint64_t flags = 0;
	int r = read_attributes(pid, &attributes);

	if (r < 0)
		return r;
	if (min != from.min_cap)
		flags |= FLAG_CLAMP_MIN;
	if (max != from.max_cap)
		flags |= FLAG_CLAMP_MAX;
	if (min == default_min(attributes.sched_policy))
		min = UCLAMP_RESET;
	if (max == UCLAMP_MOST)
		max = UCLAMP_RESET;
	return flags ? write_clamps(pid, flags, min, max) : 0;
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

/* `starttime` is field 22. Field 2, the name, may contain blanks and brackets. */
static int parse_start(const char *text, uint64_t *ret_start)
{
	const char *word = strrchr(text, ')');
	char *end;

	for (int i = 2; word && i < 22; i++)
		word = strchr(word + 1, ' ');
	if (!word)
		return -EBADMSG;
	*ret_start = strtoull(word + 1, &end, 10);
	return end == word + 1 ? -EBADMSG : 0;
}

static int read_stat(int fd, char *ret_text, size_t size)
{
	ssize_t n = pread(fd, ret_text, size - 1, 0);

	if (n < 0)
		return -errno;
	ret_text[n] = '\0';
	return n ? 0 : -ESRCH;
}

int uclamp_open_task(uint32_t pid, uint64_t *ret_start)
{
	_cleanup_close_ int fd = -1;
	char text[512];
	int r;

	snprintf(text, sizeof(text), "/proc/%u/stat", pid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	r = read_stat(fd, text, sizeof(text));
	if (r == 0)
		r = parse_start(text, ret_start);
	return r < 0 ? r : take_fd(&fd);
}

bool uclamp_is_alive(int task_fd)
{
	char text[64];

	return read_stat(task_fd, text, sizeof(text)) == 0;
}
