// SPDX-License-Identifier: GPL-2.0-only
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char block[WORK_BLOCK_BYTES] __attribute__((aligned(WORK_BLOCK_BYTES)));

static int write_file(int fd)
{
	for (int i = 0; i < WORK_FILE_BYTES / WORK_BLOCK_BYTES; i++)
		if (write(fd, block, WORK_BLOCK_BYTES) != WORK_BLOCK_BYTES)
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
	return pread(direct, block, WORK_BLOCK_BYTES, 0) == WORK_BLOCK_BYTES ? direct : -EIO;
}

void work_pin(pid_t pid, uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set) < 0)
		abort();
}

/* A program stays attached for as long as anybody has its link. */
static void close_links(void)
{
	char path[32], target[32] = "";

	for (int fd = 3; fd < 256; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, target, sizeof(target)) > 0 &&
		    !strncmp(target, "anon_inode:bpf_link", 19))
			close(fd);
	}
}

static bool starts_ordinary;

void work_start_ordinary(bool ordinary)
{
	starts_ordinary = ordinary;
}

/*
 * A test that fails leaves nothing behind that goes on. An ordinary task does its own work alone:
 * to close links takes so long that a tick meets it, and the tracer follows its load from then on.
 */
static pid_t start(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		abort();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent) /* it ended before that */
			_exit(EXIT_FAILURE);
		if (!starts_ordinary)
			close_links();
	}
	return pid;
}

void work_before_others(int priority)
{
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = priority });
}

static void run_among_others(void)
{
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
}

pid_t work_start(void)
{
	pid_t pid = start();

	if (!pid)
		run_among_others();
	return pid;
}

pid_t work_start_on(const char *name, uint32_t cpu)
{
	pid_t pid = start();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	work_pin(0, cpu);
	if (starts_ordinary)
		run_among_others();
	else
		work_before_others(1);
	return 0;
}

pid_t work_spin(uint32_t cpu)
{
	pid_t pid = work_start_on("native-spin", cpu);

	if (pid)
		return pid;
	for (;;)
		__asm__ volatile("" ::: "memory");
}

pid_t work_nap(const char *name, uint32_t cpu)
{
	pid_t pid = work_start_on(name, cpu);

	if (pid)
		return pid;
	for (;;)
		usleep(20);
}

/* The i-th of a sequence that the disk does not see as one. */
static void read_block(int file, uint32_t i)
{
	off_t offset = (off_t)(i * 2654435761U % (WORK_FILE_BYTES / WORK_BLOCK_BYTES));

	if (pread(file, block, WORK_BLOCK_BYTES, offset * WORK_BLOCK_BYTES) != WORK_BLOCK_BYTES)
		_exit(EXIT_FAILURE);
}

pid_t work_read(const char *name, uint32_t cpu, int file, uint32_t n, uint32_t pause_us)
{
	pid_t pid = work_start_on(name, cpu);

	if (pid)
		return pid;
	for (uint32_t i = 0; !n || i < n; i++) {
		read_block(file, i);
		if (pause_us)
			usleep(pause_us);
	}
	_exit(EXIT_SUCCESS);
}

pid_t work_read_sizes(const char *name, uint32_t cpu, int file, uint32_t change_ms)
{
	static char blocks[8 * WORK_BLOCK_BYTES] __attribute__((aligned(WORK_BLOCK_BYTES)));
	pid_t pid = work_start_on(name, cpu);
	struct timespec now;

	if (pid)
		return pid;
	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((now.tv_sec * 1000ULL + now.tv_nsec / 1000000) / change_ms % 2)
			read_block(file, 0);
		else if (pread(file, blocks, sizeof(blocks), 0) != sizeof(blocks))
			_exit(EXIT_FAILURE);
	}
}

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return fopen(path, "re");
}

/* The number after a line's name in a file of /proc/PID; 0: there is none. */
static uint64_t read_field(pid_t pid, const char *file_name, const char *field)
{
	FILE *file = open_proc(pid, file_name);
	uint64_t number = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, field, strlen(field)))
			number = strtoull(line + strlen(field), NULL, 10);
	if (file)
		fclose(file);
	return number;
}

uint64_t work_read_bytes(pid_t pid)
{
	return read_field(pid, "io", "read_bytes:");
}

uint64_t work_switches(pid_t pid)
{
	FILE *file = open_proc(pid, "schedstat");
	unsigned long long came = 0;

	if (file && fscanf(file, "%*u %*u %llu", &came) != 1)
		came = 0;
	if (file)
		fclose(file);
	return came + read_field(pid, "status", "nonvoluntary_ctxt_switches:");
}

static uint64_t cpu_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
}

void work_burn(uint32_t us)
{
	uint64_t end_us = cpu_now_us() + us;

	while (cpu_now_us() < end_us)
		;
}

pid_t work_compute(const char *name, uint32_t cpu, int file, uint32_t compute_us)
{
	pid_t pid = work_start_on(name, cpu);

	if (pid)
		return pid;
	for (uint32_t i = 0;; i++) {
		read_block(file, i);
		work_burn(compute_us);
	}
}

pid_t work_read_two(const char *name, uint32_t cpu, int first, int second)
{
	pid_t pid = work_start_on(name, cpu);

	if (pid)
		return pid;
	for (uint32_t i = 0;; i++)
		read_block(i % 2 ? first : second, i);
}

/* The file again, without the flag for direct I/O. */
static int reopen(int file, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return open(path, flags | O_CLOEXEC);
}

/* A child with the file open for buffered I/O. */
static pid_t start_buffered(const char *name, int *file, int flags)
{
	pid_t pid = work_start();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	*file = reopen(*file, flags);
	if (*file < 0)
		_exit(EXIT_FAILURE);
	return 0;
}

pid_t work_fault(const char *name, int file)
{
	pid_t pid = start_buffered(name, &file, O_RDONLY);

	while (!pid) {
		volatile char *bytes;

		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
		bytes = mmap(NULL, WORK_FILE_BYTES, PROT_READ, MAP_SHARED, file, 0);
		if (bytes == MAP_FAILED)
			_exit(EXIT_FAILURE);
		madvise((void *)bytes, WORK_FILE_BYTES, MADV_RANDOM);
		for (uint32_t i = 0; i < WORK_FILE_BYTES / WORK_BLOCK_BYTES; i++)
			bytes[i * 2654435761U % (WORK_FILE_BYTES / WORK_BLOCK_BYTES) *
			      WORK_BLOCK_BYTES];
		munmap((void *)bytes, WORK_FILE_BYTES);
	}
	return pid;
}

pid_t work_read_buffered(const char *name, int file)
{
	pid_t pid = start_buffered(name, &file, O_RDONLY);

	while (!pid) {
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
		for (off_t at = 0; at < WORK_FILE_BYTES; at += WORK_BLOCK_BYTES)
			if (pread(file, block, WORK_BLOCK_BYTES, at) != WORK_BLOCK_BYTES)
				_exit(EXIT_FAILURE);
	}
	return pid;
}

pid_t work_write_buffered(const char *name, int file)
{
	pid_t pid = start_buffered(name, &file, O_RDWR);

	while (!pid) {
		for (uint32_t i = 0; i < 1000; i++) {
			off_t at = i * 2654435761U % (WORK_FILE_BYTES / WORK_BLOCK_BYTES);

			if (pwrite(file, block, WORK_BLOCK_BYTES, at * WORK_BLOCK_BYTES) !=
			    WORK_BLOCK_BYTES)
				_exit(EXIT_FAILURE);
		}
		syncfs(file);
	}
	return pid;
}

pid_t work_fio(int file, const char *const options[])
{
	/* Before others, but no real-time task: those are accounted at each switch. */
	const char *argv[32] = { "nice",
				 "-n",
				 "-20",
				 "fio",
				 "--name=native",
				 "--size=16m",
				 "--time_based",
				 "--runtime=600",
				 "--allow_file_create=0" };
	char file_option[64];
	size_t n = 9;

	snprintf(file_option, sizeof(file_option), "--filename=/proc/%d/fd/%d", getpid(), file);
	argv[n++] = file_option;
	while (*options && n < 31)
		argv[n++] = *options++;
	return work_exec(argv);
}

pid_t work_exec(const char *const argv[])
{
	pid_t pid = work_start();
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

void work_end_all(void)
{
	FILE *children = fopen("/proc/thread-self/children", "r");
	pid_t pid;

	while (children && fscanf(children, "%d", &pid) == 1)
		work_end(pid);
	if (children)
		fclose(children);
}
