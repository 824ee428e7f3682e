// SPDX-License-Identifier: GPL-2.0-only
#include "override_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actuator/originals_parse.h"
#include "shared/cleanup.h"

#define HEADER	       "wakegov overrides 1\n"
#define TEMPORARY_FILE OVERRIDE_FILE ".new"
#define LINE_SIZE      160

static int open_directory(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int write_entries(FILE *file, const struct topology *topology,
			 const struct override_table *table)
{
	char boot_id[ORIGINALS_BOOT_ID_SIZE];
	int r = originals_read_boot_id(boot_id);

	if (r < 0)
		return r;
	fprintf(file, HEADER "boot %s\n", boot_id);
	for (uint32_t i = 0; i < table->n; i++) {
		const struct input_override *o = &table->entries[i];

		fprintf(file, "%u %s %u %u %u %u %" PRIu64 "\n", o->id,
			topology->domains[o->domain].name, o->min_khz, o->max_khz, o->frozen_khz,
			o->uid, o->end_ns);
	}
	fprintf(file, "end %u\n", table->n);
	return fflush(file) || ferror(file) ? -EIO : 0;
}

static int write_temporary(int directory, const struct topology *topology,
			   const struct override_table *table)
{
	int fd = openat(directory, TEMPORARY_FILE,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	_cleanup_fclose_ FILE *file = NULL;

	if (fd < 0)
		return -errno;
	file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	return write_entries(file, topology, table);
}

static int remove_file(int directory, const char *name)
{
	return unlinkat(directory, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int override_file_save(const char *path, const struct topology *topology,
		       const struct override_table *table)
{
	_cleanup_close_ int directory = open_directory(path);
	int r;

	if (directory < 0)
		return directory;
	if (!table->n)
		return remove_file(directory, OVERRIDE_FILE);
	/* Left over from a crash between here and the rename. */
	r = remove_file(directory, TEMPORARY_FILE);
	if (r < 0)
		return r;
	r = write_temporary(directory, topology, table);
	if (r == 0 && renameat(directory, TEMPORARY_FILE, directory, OVERRIDE_FILE) < 0)
		r = -errno;
	if (r < 0)
		remove_file(directory, TEMPORARY_FILE);
	return r;
}

/* What another user can write must not tell us what to run at. */
static int open_file(const char *path, FILE **ret)
{
	_cleanup_close_ int directory = open_directory(path);
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (directory < 0)
		return directory;
	fd = openat(directory, OVERRIDE_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	*ret = fdopen(fd, "r");
	if (!*ret)
		return -ENOMEM;
	take_fd(&fd);
	return 0;
}

static uint32_t find_domain(const struct topology *topology, const char *name)
{
	uint32_t i = 0;

	while (i < topology->n_domains && strcmp(topology->domains[i].name, name) != 0)
		i++;
	return i;
}

/* One line into the table. Returns whether it is of the form. */
static bool take_line(const char *line, const struct topology *topology, uint64_t now_ns,
		      struct override_table *table)
{
	struct input_override o = { 0 };
	char name[DOMAIN_NAME_SIZE];
	int n = 0;

	if (sscanf(line, "%u %15s %u %u %u %u %" SCNu64 "%n", &o.id, name, &o.min_khz, &o.max_khz,
		   &o.frozen_khz, &o.uid, &o.end_ns, &n) != 7 ||
	    line[n] != '\n' || !o.id || override_table_find(table, o.id))
		return false;
	o.domain = find_domain(topology, name);
	return o.domain == topology->n_domains || override_table_put(table, &o, now_ns);
}

static int read_entries(FILE *file, const struct topology *topology, uint64_t now_ns,
			struct override_table *table)
{
	char line[LINE_SIZE];
	uint32_t n = 0, end;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "end %u", &end) == 1)
			return end == n && !fgets(line, sizeof(line), file) ? 0 : -EBADMSG;
		if (n++ == OVERRIDES_MAX || !take_line(line, topology, now_ns, table))
			return -EBADMSG;
	}
	return -EBADMSG;
}

/* Returns 1 if what follows is of this boot, 0 if it is of another. */
static int read_header(FILE *file)
{
	char boot_id[ORIGINALS_BOOT_ID_SIZE], line[LINE_SIZE], expected[LINE_SIZE];
	int r = originals_read_boot_id(boot_id);

	if (r < 0)
		return r;
	if (!fgets(line, sizeof(line), file) || strcmp(line, HEADER) != 0 ||
	    !fgets(line, sizeof(line), file) || strncmp(line, "boot ", 5) != 0)
		return -EBADMSG;
	snprintf(expected, sizeof(expected), "boot %s\n", boot_id);
	return !strcmp(line, expected);
}

int override_file_load(const char *directory, const struct topology *topology, uint64_t now_ns,
		       struct override_table *ret)
{
	_cleanup_fclose_ FILE *file = NULL;
	struct override_table table = { 0 };
	int r = open_file(directory, &file);

	ret->n = 0;
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = read_header(file);
	if (r > 0)
		r = read_entries(file, topology, now_ns, &table);
	if (r == 0)
		*ret = table;
	return r;
}
