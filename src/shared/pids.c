// SPDX-License-Identifier: GPL-2.0-only
/* Whether this process sees the kernel's own numbers of tasks. */
#include "shared/pids.h"

#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/stat.h>

#include "shared/cleanup.h"

#define FIRST_PID_NAMESPACE 0xeffffffc /* PROC_PID_INIT_INO; PID_NS_INIT_INO in linux/nsfs.h */

bool pids_are_the_kernels(void)
{
	struct stat namespace;

	return stat("/proc/self/ns/pid", &namespace) == 0 &&
	       namespace.st_ino == FIRST_PID_NAMESPACE;
}

/* NSpid lists the numbers of the pidfd's process, from this process's namespace downwards. */
bool pids_are_shared_with(pid_t pid)
{
	_cleanup_close_ int fd = pidfd_open(pid, 0);
	_cleanup_fclose_ FILE *file = NULL;
	char line[256], path[48];
	int here, below, n = 0;

	if (fd < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && n <= 0 && fgets(line, sizeof(line), file))
		n = sscanf(line, "NSpid: %d %d", &here, &below);
	return n == 1 && here == pid;
}
