// SPDX-License-Identifier: GPL-2.0-only
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK_BYTES 4096

static char block[BLOCK_BYTES] __attribute__((aligned(BLOCK_BYTES)));

static int write_file(int fd)
{
	for (int i = 0; i < WORK_FILE_BYTES / BLOCK_BYTES; i++)
		if (write(fd, block, BLOCK_BYTES) != BLOCK_BYTES)
			return errno ? -errno : -EIO;
	return fsync(fd) < 0 ? -errno : 0;
}

int work_file_new(void)
{
	char path[] = "native-test-XXXXXX";
	int fd = mkstemp(path), direct, r;

	if (fd < 0)
		return -errno;
	r = write_file(fd);
	close(fd);
	direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (direct < 0)
		r = -errno;
	unlink(path);
	if (r < 0)
		return r;
	return pread(direct, block, BLOCK_BYTES, 0) == BLOCK_BYTES ? direct : -EIO;
}

void work_pin(pid_t pid, uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set) < 0)
		abort();
}

/* A test that fails leaves nothing behind that goes on. */
static pid_t start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		abort();
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

pid_t work_spin(uint32_t cpu, bool alone)
{
	const struct sched_param param = { .sched_priority = 1 };
	pid_t pid = start();

	if (pid)
		return pid;
	work_pin(0, cpu);
	if (alone)
		sched_setscheduler(0, SCHED_FIFO, &param);
	for (;;)
		__asm__ volatile("" ::: "memory");
}

pid_t work_read(const char *name, uint32_t cpu, int file, uint32_t n, uint32_t pause_us)
{
	pid_t pid = start();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	work_pin(0, cpu);
	for (uint32_t i = 0; !n || i < n; i++) {
		off_t offset = (off_t)(i * 2654435761U % (WORK_FILE_BYTES / BLOCK_BYTES));

		if (pread(file, block, BLOCK_BYTES, offset * BLOCK_BYTES) != BLOCK_BYTES)
			_exit(EXIT_FAILURE);
		if (pause_us)
			usleep(pause_us);
	}
	_exit(EXIT_SUCCESS);
}

pid_t work_exec(const char *const argv[])
{
	pid_t pid = start();
	int null;

	if (pid)
		return pid;
	null = open("/dev/null", O_RDWR);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

int work_wait(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid)
		abort();
	return status;
}

int work_end(pid_t pid)
{
	kill(pid, SIGKILL);
	return work_wait(pid);
}
