// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/uclamps_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actuator/saved_parse.h"
#include "shared/cleanup.h"
#include "shared/replace.h"

#define HEADER	      "wakegov clamps 1\n"
#define LINE_MAX_SIZE 96
#define JOURNAL_MAX   ((off_t)64 * 1024 * 1024) /* a longer file is refused */

static int open_directory(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void print_line(char ret_line[LINE_MAX_SIZE], const struct uclamped *clamped)
{
	snprintf(ret_line, LINE_MAX_SIZE, "task %u %llu %u-%u %u-%u\n", clamped->pid,
		 (unsigned long long)clamped->start, clamped->own.min_cap, clamped->own.max_cap,
		 clamped->put.min_cap, clamped->put.max_cap);
}

static int write_head(FILE *file)
{
	char boot_id[SAVED_BOOT_ID_SIZE];
	int r = saved_read_boot_id(boot_id);

	if (r == 0)
		fprintf(file, HEADER "boot %s\n", boot_id);
	return r;
}

/* The temporary file has the name of the journal only when it is whole. */
struct lines {
	const struct uclamped *const *clamped;
	size_t n;
};

static int write_lines(FILE *file, const void *data)
{
	const struct lines *lines = data;
	char line[LINE_MAX_SIZE];
	int r = write_head(file);

	for (size_t i = 0; i < lines->n && r == 0; i++) {
		print_line(line, lines->clamped[i]);
		fputs(line, file);
	}
	return r;
}

int uclamps_journal_rewrite(const char *directory, const struct uclamped *const *clamped, size_t n)
{
	_cleanup_close_ int fd = open_directory(directory);
	const struct lines lines = { clamped, n };
	int r, journal;

	if (fd < 0)
		return fd;
	r = replace_file(fd, UCLAMPS_JOURNAL_FILE, write_lines, &lines);
	if (r < 0)
		return r;
	journal = openat(fd, UCLAMPS_JOURNAL_FILE, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	return journal < 0 ? -errno : journal;
}

int uclamps_journal_create(const char *directory)
{
	return uclamps_journal_rewrite(directory, NULL, 0);
}

int uclamps_journal_add(int fd, const struct uclamped *clamped)
{
	char line[LINE_MAX_SIZE];
	size_t length;
	ssize_t n;

	print_line(line, clamped);
	length = strlen(line);
	n = write(fd, line, length);
	if (n < 0)
		return -errno;
	/* A part of a line would spoil the next one: it is taken back. */
	if ((size_t)n < length)
		return ftruncate(fd, lseek(fd, 0, SEEK_END) - n) < 0 ? -errno : -ENOSPC;
	return 0;
}

int uclamps_journal_remove(const char *directory)
{
	_cleanup_close_ int fd = open_directory(directory);

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	return replace_remove(fd, UCLAMPS_JOURNAL_FILE);
}

static bool is_clamp(unsigned int min, unsigned int max)
{
	return min <= UCLAMP_MOST && max <= UCLAMP_MOST;
}

/* Strict: the line must be the one that we would have written, to the letter. */
static bool parse_line(const char *line, struct uclamped *ret)
{
	unsigned int pid, own_min, own_max, put_min, put_max;
	char expected[LINE_MAX_SIZE];
	unsigned long long start;

	if (sscanf(line, "task %10u %20llu %4u-%4u %4u-%4u", &pid, &start, &own_min, &own_max,
		   &put_min, &put_max) != 6)
		return false;
	if (!pid || !is_clamp(own_min, own_max) || !is_clamp(put_min, put_max))
		return false;
	*ret = (struct uclamped){
		.pid = pid,
		.start = start,
		.own = { own_min, own_max },
		.put = { put_min, put_max },
	};
	ret->was = ret->own;
	print_line(expected, ret);
	return strcmp(line, expected) == 0;
}

/* Takes the next whole line, without its end replaced, from *cursor. */
static bool next_line(char **cursor, char ret_line[LINE_MAX_SIZE])
{
	const char *end = strchr(*cursor, '\n');
	size_t length = end ? (size_t)(end - *cursor) + 1 : 0;

	if (!end || length >= LINE_MAX_SIZE)
		return false;
	memcpy(ret_line, *cursor, length);
	ret_line[length] = '\0';
	*cursor += length;
	return true;
}

/* By number, then start, then in the order of the lines, which an equal key keeps. */
struct numbered {
	struct uclamped clamped;
	size_t line;
};

static int compare(const void *one, const void *other)
{
	const struct numbered *a = one, *b = other;

	if (a->clamped.pid != b->clamped.pid)
		return a->clamped.pid < b->clamped.pid ? -1 : 1;
	if (a->clamped.start != b->clamped.start)
		return a->clamped.start < b->clamped.start ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* The last line of each task, with what the one before it said in `was`. Returns how many. */
static size_t merge_lines(struct numbered *lines, size_t n, struct uclamped *ret)
{
	size_t n_tasks = 0;

	qsort(lines, n, sizeof(*lines), compare);
	for (size_t i = 0; i < n; i++) {
		struct uclamped *last = n_tasks ? &ret[n_tasks - 1] : NULL;
		struct uclamped *next = &lines[i].clamped;

		if (!last || last->pid != next->pid || last->start != next->start) {
			ret[n_tasks++] = *next;
			continue;
		}
		next->was = last->put;
		*last = *next;
	}
	return n_tasks;
}

static int parse_lines(char *text, size_t size, struct uclamped **ret, size_t *ret_n)
{
	size_t n_max = size / sizeof("task 1 1 0-0 0-0"), n = 0;
	_cleanup_free_ struct numbered *lines = calloc(n_max + 1, sizeof(*lines));
	_cleanup_free_ struct uclamped *clamped = calloc(n_max + 1, sizeof(*clamped));
	char line[LINE_MAX_SIZE];

	if (!lines || !clamped)
		return -ENOMEM;
	for (; next_line(&text, line); n++) {
		if (n > n_max || !parse_line(line, &lines[n].clamped))
			return -EBADMSG;
		lines[n].line = n;
	}
	if (strchr(text, '\n'))
		return -EBADMSG;
	*ret_n = merge_lines(lines, n, clamped);
	*ret = take_ptr(clamped);
	return 0;
}

static int parse(char *text, size_t size, struct uclamped **ret, size_t *ret_n)
{
	char boot_id[SAVED_BOOT_ID_SIZE], expected[LINE_MAX_SIZE], line[LINE_MAX_SIZE];
	int r = saved_read_boot_id(boot_id);

	if (r < 0)
		return r;
	snprintf(expected, sizeof(expected), "boot %s\n", boot_id);
	if (strlen(text) != size || !next_line(&text, line) || strcmp(line, HEADER) != 0 ||
	    !next_line(&text, line) || strncmp(line, "boot ", 5) != 0)
		return -EBADMSG;
	if (strcmp(line, expected) != 0)
		return 0;
	return parse_lines(text, size, ret, ret_n);
}

/* What another user can write must not tell us whose clamps to set. */
static int check_owner(int fd, size_t *ret_size)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > JOURNAL_MAX)
		return -EBADMSG;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	*ret_size = (size_t)st.st_size;
	return 0;
}

static int read_whole(int fd, char *text, size_t size)
{
	size_t length = 0;
	ssize_t n;

	while (length < size && (n = read(fd, text + length, size - length)) > 0)
		length += (size_t)n;
	text[length] = '\0';
	return length == size ? 0 : -EIO;
}

int uclamps_journal_read(const char *directory, struct uclamped **ret, size_t *ret_n)
{
	_cleanup_close_ int directory_fd = open_directory(directory);
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -1;
	size_t size = 0;
	int r;

	*ret = NULL;
	*ret_n = 0;
	if (directory_fd < 0)
		return directory_fd == -ENOENT ? 0 : directory_fd;
	fd = openat(directory_fd, UCLAMPS_JOURNAL_FILE,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : errno == ELOOP ? -EBADMSG : -errno;
	r = check_owner(fd, &size);
	if (r < 0)
		return r;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;
	r = read_whole(fd, text, size);
	return r < 0 ? r : parse(text, size, ret, ret_n);
}
