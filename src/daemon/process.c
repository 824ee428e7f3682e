// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "shared/cleanup.h"

int process_comm(pid_t pid, char ret[static PROCESS_COMM_SIZE])
{
	_cleanup_close_ int fd = -1;
	ssize_t length;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	length = read(fd, ret, PROCESS_COMM_SIZE);
	if (length <= 0)
		return length < 0 ? -errno : -ESRCH;
	/* The file ends with a newline. */
	ret[length - 1] = '\0';
	return 0;
}

const char *process_name(uint32_t pid, const char *known, char buffer[static PROCESS_COMM_SIZE])
{
	if (!pid || known[0])
		return pid ? known : NULL;
	return process_comm((pid_t)pid, buffer) == 0 ? buffer : NULL;
}
