// SPDX-License-Identifier: GPL-2.0-only
#include "query/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/cleanup.h"

int process_owner(pid_t pid, uid_t *ret)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &status) < 0)
		return -errno;
	*ret = status.st_uid;
	return 0;
}

int process_command(pid_t pid, char ret[static PROCESS_COMMAND_SIZE])
{
	_cleanup_close_ int fd = -1;
	ssize_t length;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	length = read(fd, ret, PROCESS_COMMAND_SIZE - 1);
	if (length < 0)
		return -errno;
	/* The last argument ends with a NUL like the others. */
	while (length && !ret[length - 1])
		length--;
	for (ssize_t i = 0; i < length; i++)
		if (!ret[i])
			ret[i] = ' ';
	ret[length] = '\0';
	return 0;
}
