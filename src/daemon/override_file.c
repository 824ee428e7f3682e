// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/override_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actuator/saved_parse.h"
#include "shared/cleanup.h"
#include "shared/replace.h"
#include "shared/text.h"

#define HEADER	  "wakegov overrides 1\n"
#define LINE_SIZE 256

static int open_directory(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void write_override(FILE *file, const struct task_override *override)
{
	const struct policy_override *target = &override->target;
	char comm[sizeof(override->comm)];
	const struct policy_level *levels[] = { &override->properties.cap,
						&override->properties.floor,
						&override->properties.io_boost };

	text_copy(comm, sizeof(comm), override->comm);
	if (target->pid)
		fprintf(file, "%u task %u %" PRIu64 " %d %s\n", target->id, target->pid,
			target->start_ns, target->children, comm);
	else
		fprintf(file, "%u rule %s\n", target->id, target->rule);
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		fprintf(file, "%d %u ", levels[i]->kind, levels[i]->value);
	fprintf(file, "%u %" PRIu64 "\n", override->uid, override->end_ns);
}

struct saved {
	const struct topology *topology;
	const struct override_table *table;
	const struct task_overrides *overrides;
};

static int write_entries(FILE *file, const void *data)
{
	const struct saved *saved = data;
	const struct override_table *table = saved->table;
	const struct task_overrides *overrides = saved->overrides;
	char boot_id[SAVED_BOOT_ID_SIZE];
	int r = saved_read_boot_id(boot_id);

	if (r < 0)
		return r;
	fprintf(file, HEADER "boot %s\n", boot_id);
	for (uint32_t i = 0; i < table->n; i++) {
		const struct input_override *o = &table->entries[i];

		fprintf(file, "%u %s %u %u %u %u %" PRIu64 "\n", o->id,
			saved->topology->domains[o->domain].name, o->min_khz, o->max_khz,
			o->frozen_khz, o->uid, o->end_ns);
	}
	for (uint32_t i = 0; i < overrides->n; i++)
		write_override(file, &overrides->entries[i]);
	fprintf(file, "end %u\n", table->n + overrides->n);
	return 0;
}

int override_file_save(const char *path, const struct topology *topology,
		       const struct override_table *table, const struct task_overrides *overrides)
{
	_cleanup_close_ int directory = open_directory(path);
	const struct saved saved = { topology, table, overrides };

	if (directory < 0)
		return directory;
	if (!table->n && !overrides->n)
		return replace_remove(directory, OVERRIDE_FILE);
	return replace_file(directory, OVERRIDE_FILE, write_entries, &saved);
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

/* Its target from the first of its two lines. */
static bool take_target(const char *line, struct task_override *ret)
{
	struct policy_override *target = &ret->target;
	int children, n = 0;

	if (sscanf(line, "%u task %u %" SCNu64 " %d %n", &target->id, &target->pid,
		   &target->start_ns, &children, &n) == 4 &&
	    n && strlen(line + n) <= sizeof(ret->comm)) {
		target->children = children;
		memcpy(ret->comm, line + n, strcspn(line + n, "\n"));
		return target->id && target->pid;
	}
	*target = (struct policy_override){ 0 };
	return sscanf(line, "%u rule %31s", &target->id, target->rule) == 2 && target->id;
}

static bool is_level(const struct policy_level *level)
{
	return level->kind >= POLICY_LEVEL_NONE && level->kind <= POLICY_LEVEL_KHZ &&
	       level->value <= policy_level_most(level->kind);
}

static bool take_override(const char *line, FILE *file, uint64_t now_ns,
			  struct task_overrides *overrides)
{
	struct task_override override = { 0 };
	struct policy_properties *p = &override.properties;
	int cap, floor, io_boost, n = 0;
	char second[LINE_SIZE];

	if (!take_target(line, &override) || task_overrides_find(overrides, override.target.id) ||
	    !fgets(second, sizeof(second), file) ||
	    sscanf(second, "%d %u %d %u %d %u %u %" SCNu64 "%n", &cap, &p->cap.value, &floor,
		   &p->floor.value, &io_boost, &p->io_boost.value, &override.uid, &override.end_ns,
		   &n) != 8 ||
	    second[n] != '\n')
		return false;
	p->cap.kind = cap;
	p->floor.kind = floor;
	p->io_boost.kind = io_boost;
	if (!is_level(&p->cap) || !is_level(&p->floor) || !is_level(&p->io_boost))
		return false;
	return override.end_ns <= now_ns || task_overrides_add(overrides, &override);
}

static bool is_override(const char *line)
{
	char kind[8];

	return sscanf(line, "%*u %7s", kind) == 1 &&
	       (!strcmp(kind, "task") || !strcmp(kind, "rule"));
}

static int read_entries(FILE *file, const struct topology *topology, uint64_t now_ns,
			struct override_table *table, struct task_overrides *overrides)
{
	char line[LINE_SIZE];
	uint32_t n = 0, end;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "end %u", &end) == 1)
			return end == n && !fgets(line, sizeof(line), file) ? 0 : -EBADMSG;
		if (n++ == OVERRIDES_MAX + TASK_OVERRIDES_MAX ||
		    !(is_override(line) ? take_override(line, file, now_ns, overrides)
					: take_line(line, topology, now_ns, table)))
			return -EBADMSG;
	}
	return -EBADMSG;
}

/* Returns 1 if what follows is of this boot, 0 if it is of another. */
static int read_header(FILE *file)
{
	char boot_id[SAVED_BOOT_ID_SIZE], line[LINE_SIZE], expected[LINE_SIZE];
	int r = saved_read_boot_id(boot_id);

	if (r < 0)
		return r;
	if (!fgets(line, sizeof(line), file) || strcmp(line, HEADER) != 0 ||
	    !fgets(line, sizeof(line), file) || strncmp(line, "boot ", 5) != 0)
		return -EBADMSG;
	snprintf(expected, sizeof(expected), "boot %s\n", boot_id);
	return !strcmp(line, expected);
}

int override_file_load(const char *directory, const struct topology *topology, uint64_t now_ns,
		       struct override_table *ret, struct task_overrides *ret_overrides)
{
	_cleanup_fclose_ FILE *file = NULL;
	struct override_table table = { 0 };
	struct task_overrides overrides = { 0 };
	int r = open_file(directory, &file);

	ret->n = 0;
	ret_overrides->n = 0;
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = read_header(file);
	if (r > 0)
		r = read_entries(file, topology, now_ns, &table, &overrides);
	if (r == 0) {
		*ret = table;
		*ret_overrides = overrides;
	}
	return r;
}
