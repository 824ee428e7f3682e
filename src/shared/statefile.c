// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text files in the run directory that outlast the daemon but not the boot, written whole or
 * appended to.
 */
#include "shared/statefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/cleanup.h"

#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_SIZE 37
#define LENGTH_MAX   ((off_t)64 * 1024 * 1024) /* a longer file is refused */
#define NAME_SIZE    64

static int open_directory(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int read_boot_id(char ret_boot_id[BOOT_ID_SIZE])
{
	_cleanup_close_ int fd = open(BOOT_ID_PATH, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, ret_boot_id, BOOT_ID_SIZE - 1);
	if (n < 0)
		return -errno;
	ret_boot_id[n] = '\0';
	return n == BOOT_ID_SIZE - 1 ? 0 : -EIO;
}

/*
 * Reads the file, and appends a NUL. Refuses a file that another user could have written, as it
 * must not determine writes to the kernel. Returns 0, -ENOENT without a file or a directory, …
 */
static int read_whole(const char *directory, const char *name, char **ret_text, size_t *ret_length)
{
	_cleanup_close_ int directory_fd = open_directory(directory);
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *text = NULL;
	size_t length, at = 0;
	struct stat st;
	ssize_t n;

	if (directory_fd < 0)
		return directory_fd;
	fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ELOOP ? -EBADMSG : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > LENGTH_MAX)
		return -EBADMSG;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EKEYREJECTED;
	length = (size_t)st.st_size;
	text = malloc(length + 1);
	if (!text)
		return -ENOMEM;
	while (at < length && (n = read(fd, text + at, length - at)) > 0)
		at += (size_t)n;
	if (at < length)
		return -EIO;
	text[length] = '\0';
	*ret_text = take_ptr(text);
	*ret_length = length;
	return 0;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Pops the next whole line, or NULL. */
static char *next_line(struct statefile_reader *reader)
{
	char *line = reader->next, *end = strchr(line, '\n');

	if (!end)
		return NULL;
	*end = '\0';
	reader->next = end + 1;
	return line;
}

/* Whether text is not empty and has only these characters. */
static bool is_made_of(const char *text, const char *characters)
{
	return *text && text[strspn(text, characters)] == '\0';
}

static int check_version(const char *line, const struct statefile *file)
{
	char expected[NAME_SIZE];
	int named = snprintf(expected, sizeof(expected), "wakegov %s ", file->name);

	if (!line || strncmp(line, expected, (size_t)named) != 0 ||
	    !is_made_of(line + named, "0123456789"))
		return -EBADMSG;
	snprintf(expected + named, sizeof(expected) - (size_t)named, "%u", file->version);
	return strcmp(line, expected) == 0 ? 0 : -EPROTONOSUPPORT;
}

/* Returns 1 if the file is of this boot, 0 if not. */
static int check_boot(const char *line)
{
	char boot_id[BOOT_ID_SIZE];
	int r = read_boot_id(boot_id);

	if (r < 0)
		return r;
	if (!line || strncmp(line, "boot ", 5) != 0 || strlen(line + 5) != BOOT_ID_SIZE - 1 ||
	    !is_made_of(line + 5, "0123456789abcdef-"))
		return -EBADMSG;
	return strcmp(line + 5, boot_id) == 0;
}

int statefile_open(const char *directory, const struct statefile *file,
		   struct statefile_reader *ret)
{
	size_t length = 0;
	int r;

	*ret = (struct statefile_reader){ .is_log = file->is_log };
	r = read_whole(directory, file->name, &ret->text, &length);
	/* A crash during the first write may have left NAME.new. */
	if (r == -ENOENT)
		statefile_remove(directory, file);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	ret->next = ret->text;
	if (strlen(ret->text) != length)
		return -EBADMSG;
	r = check_version(next_line(ret), file);
	if (r == 0)
		r = check_boot(next_line(ret));
	if (r == 1)
		ret->n_max = count_lines(ret->next);
	else if (r == 0)
		statefile_remove(directory, file); /* if this fails, the next start removes it */
	return r;
}

void statefile_close(struct statefile_reader *reader)
{
	free(reader->text);
	reader->text = NULL;
}

int statefile_next(struct statefile_reader *reader, char **ret_line)
{
	char *line = next_line(reader), expected[NAME_SIZE];

	if (!line)
		return reader->is_log ? 0 : -EBADMSG;
	if (!reader->is_log && strncmp(line, "end ", 4) == 0) {
		snprintf(expected, sizeof(expected), "end %zu", reader->n);
		return strcmp(line, expected) == 0 && !*reader->next ? 0 : -EBADMSG;
	}
	reader->n++;
	*ret_line = line;
	return 1;
}

const char *statefile_refusal(int error)
{
	switch (error) {
	case -EKEYREJECTED:
		return "another user could have written it";
	case -EPROTONOSUPPORT:
		return "another version of wakegovd wrote it";
	case -EBADMSG:
		return "wakegovd did not write it so";
	default:
		return NULL;
	}
}

/* A read-only file system returns EROFS even for a missing file. */
static int remove_at(int directory, const char *name)
{
	int r = unlinkat(directory, name, 0) < 0 ? -errno : 0;

	if (r < 0 && faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return 0;
	return r;
}

static void name_temporary(const char *name, char ret[static NAME_SIZE])
{
	snprintf(ret, NAME_SIZE, "%s.new", name);
}

static int replace(int directory, const char *name, const char *text, size_t length)
{
	_cleanup_close_ int fd = -1;
	char temporary[NAME_SIZE];
	ssize_t n = 0;
	int r;

	name_temporary(name, temporary);
	/* A crash between here and the rename leaves this one. */
	r = remove_at(directory, temporary);
	if (r < 0)
		return r;
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		    0600);
	if (fd < 0)
		return -errno;
	for (size_t at = 0; at < length && n >= 0; at += (size_t)n)
		n = write(fd, text + at, length - at);
	/* Not synced: after a crash of the machine the boot differs, and the file is ignored. */
	if (n >= 0 && renameat(directory, temporary, directory, name) == 0)
		return 0;
	r = -errno;
	remove_at(directory, temporary);
	return r;
}

int statefile_write(const char *directory, const struct statefile *file,
		    void (*print)(FILE *out, const void *data), const void *data)
{
	_cleanup_close_ int fd = open_directory(directory);
	_cleanup_free_ char *text = NULL;
	char boot_id[BOOT_ID_SIZE];
	size_t length = 0;
	FILE *out;
	int r = fd < 0 ? fd : read_boot_id(boot_id);

	if (r < 0)
		return r;
	out = open_memstream(&text, &length);
	if (!out)
		return -ENOMEM;
	fprintf(out, "wakegov %s %u\nboot %s\n", file->name, file->version, boot_id);
	print(out, data);
	if (!file->is_log && fflush(out) == 0)
		fprintf(out, "end %zu\n", count_lines(text) - 2);
	if (fclose(out))
		return -ENOMEM;
	return replace(fd, file->name, text, length);
}

int statefile_open_log(const char *directory, const struct statefile *file)
{
	_cleanup_close_ int directory_fd = open_directory(directory);
	int fd;

	if (directory_fd < 0)
		return directory_fd;
	fd = openat(directory_fd, file->name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

int statefile_append(int fd, const char *line)
{
	size_t length = strlen(line);
	ssize_t n = write(fd, line, length);

	if (n < 0)
		return -errno;
	/* Removes an incomplete line, which would damage the next one. */
	if ((size_t)n < length)
		return ftruncate(fd, lseek(fd, 0, SEEK_END) - n) < 0 ? -errno : -ENOSPC;
	return 0;
}

int statefile_remove(const char *directory, const struct statefile *file)
{
	_cleanup_close_ int fd = open_directory(directory);
	char temporary[NAME_SIZE];
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = remove_at(fd, file->name);
	name_temporary(file->name, temporary);
	return remove_at(fd, temporary) ?: r;
}
