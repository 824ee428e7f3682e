// SPDX-License-Identifier: GPL-2.0-only
/* Reads files of one line in /sys and /proc, any of which may vanish. */
#include "shared/sysfs.h"

#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>

#include "shared/cleanup.h"

#define FIRST_PID_NAMESPACE    0xeffffffc /* PROC_PID_INIT_INO; PID_NS_INIT_INO in linux/nsfs.h */
#define FIRST_CGROUP_NAMESPACE 0xeffffffb /* PROC_CGROUP_INIT_INO; CGROUP_NS_INIT_INO */

__attribute__((format(printf, 3, 0))) static bool read_line(char *ret, size_t size,
							    const char *format, va_list args)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[PATH_MAX];

	ret[0] = '\0';
	if (vsnprintf(path, sizeof(path), format, args) >= (int)sizeof(path))
		return false;
	file = fopen(path, "re");
	if (!file || !fgets(ret, (int)size, file))
		return false;
	ret[strcspn(ret, "\n")] = '\0';
	return ret[0] != '\0';
}

bool sysfs_read_line(char *ret, size_t size, const char *format, ...)
{
	va_list args;
	bool found;

	va_start(args, format);
	found = read_line(ret, size, format, args);
	va_end(args);
	return found;
}

int sysfs_read_tagged(char *ret, size_t size, const char *tag, const char *format, ...)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[PATH_MAX];
	bool begins = true;
	va_list args;
	int length;

	ret[0] = '\0';
	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (length >= (int)sizeof(path))
		return -ENAMETOOLONG;
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(ret, (int)size, file)) {
		bool has_tag = begins && !strncmp(ret, tag, strlen(tag));
		char *end = ret + strcspn(ret, "\n");

		begins = *end == '\n';
		*end = '\0';
		if (!has_tag)
			continue;
		memmove(ret, ret + strlen(tag), strlen(ret + strlen(tag)) + 1);
		return 1;
	}
	ret[0] = '\0';
	return ferror(file) ? -errno : 0;
}

bool sysfs_read_number(double *ret, const char *format, ...)
{
	char line[64], *end;
	va_list args;
	bool found;

	va_start(args, format);
	found = read_line(line, sizeof(line), format, args);
	va_end(args);
	if (!found)
		return false;
	*ret = strtod(line, &end);
	return end != line;
}

void sysfs_each(void (*visit)(const char *path, void *context), void *context, const char *format,
		...)
{
	char pattern[SYSFS_PATH_SIZE];
	glob_t found;
	va_list args;

	va_start(args, format);
	vsnprintf(pattern, sizeof(pattern), format, args);
	va_end(args);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			visit(found.gl_pathv[i], context);
	globfree(&found);
}

bool sysfs_matches(const char *pattern, const char *format, ...)
{
	char line[64];
	va_list args;
	bool found;

	va_start(args, format);
	found = read_line(line, sizeof(line), format, args);
	va_end(args);
	return found && fnmatch(pattern, line, 0) == 0;
}

bool sysfs_is_battery(const char *supply)
{
	return sysfs_matches("Battery", "%s/type", supply) &&
	       !sysfs_matches("Device", "%s/scope", supply);
}

static void note_highest(const char *path, void *context)
{
	double *highest = context, n;

	if (sysfs_read_number(&n, "%s", path) && n > *highest)
		*highest = n;
}

void sysfs_highest(double *highest, const char *sys, const char *pattern)
{
	sysfs_each(note_highest, highest, "%s%s", sys, pattern);
}

const char *sysfs_cgroup_mount(void)
{
	static char mount[256];
	_cleanup_fclose_ FILE *mounts = NULL;
	char line[1024], path[256], type[32];

	if (mount[0])
		return mount;
	mounts = fopen("/proc/self/mounts", "re");
	while (mounts && !mount[0] && fgets(line, sizeof(line), mounts))
		if (sscanf(line, "%*s %255s %31s", path, type) == 2 && !strcmp(type, "cgroup2"))
			strcpy(mount, path);
	return mount;
}

const char *sysfs_cgroup_why_not(void)
{
	struct stat namespace;

	if (!sysfs_cgroup_mount()[0])
		return "no cgroup v2 hierarchy is mounted: boot with systemd.unified_cgroup_hierarchy=1";
	if (stat("/proc/self/ns/cgroup", &namespace) == 0 &&
	    namespace.st_ino != FIRST_CGROUP_NAMESPACE)
		return "this is a cgroup namespace, as in a container, where the host's cgroups have "
		       "other paths: run with the host's (podman run --cgroupns=host)";
	return NULL;
}

const char *sysfs_read_turbo(const char *sys, bool *ret_on)
{
	const char *const files[] = { "intel_pstate/no_turbo", "cpufreq/boost" };
	double value;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (!sysfs_read_number(&value, "%s/devices/system/cpu/%s", sys, files[i]))
			continue;
		*ret_on = i == 0 ? value == 0 : value != 0;
		return files[i];
	}
	return NULL;
}

bool sysfs_pids_are_the_kernels(void)
{
	struct stat namespace;

	return stat("/proc/self/ns/pid", &namespace) == 0 &&
	       namespace.st_ino == FIRST_PID_NAMESPACE;
}

/* NSpid lists the numbers of the pidfd's process, from this process's namespace downwards. */
bool sysfs_pids_are_shared_with(pid_t pid)
{
	_cleanup_close_ int fd = pidfd_open(pid, 0);
	char line[256];
	int here, below;

	return fd >= 0 &&
	       sysfs_read_tagged(line, sizeof(line), "NSpid:", "/proc/self/fdinfo/%d", fd) > 0 &&
	       sscanf(line, "%d %d", &here, &below) == 1 && here == pid;
}
