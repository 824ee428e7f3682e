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

/* Returns how many bytes were read, at most size, or a negative errno. */
static ssize_t read_file(pid_t pid, const char *name, char *ret, size_t size)
{
	_cleanup_close_ int fd = -1;
	ssize_t length;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	length = read(fd, ret, size);
	return length < 0 ? -errno : length;
}

int process_comm(pid_t pid, char ret[static PROCESS_COMM_SIZE])
{
	ssize_t length = read_file(pid, "comm", ret, PROCESS_COMM_SIZE);

	if (length <= 0)
		return length < 0 ? (int)length : -ESRCH;
	/* What ends it in the file is a line's end. */
	ret[length - 1] = '\0';
	return 0;
}

const char *process_name(uint32_t pid, const char *known, char buffer[static PROCESS_COMM_SIZE])
{
	if (!pid || known[0])
		return pid ? known : NULL;
	return process_comm((pid_t)pid, buffer) == 0 ? buffer : NULL;
}

int process_command(pid_t pid, char ret[static PROCESS_COMMAND_SIZE])
{
	ssize_t length = read_file(pid, "cmdline", ret, PROCESS_COMMAND_SIZE - 1);

	if (length < 0)
		return (int)length;
	/* The last argument ends with a NUL like the others. */
	while (length && !ret[length - 1])
		length--;
	for (ssize_t i = 0; i < length; i++)
		if (!ret[i])
			ret[i] = ' ';
	ret[length] = '\0';
	return 0;
}
