// SPDX-License-Identifier: GPL-2.0-only
/* The table of cgroups with clamps that we wrote. */
#include "actuator/uclamp_groups.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "actuator/task.h"
#include "shared/cleanup.h"

#define UNCLAIMED   UINT32_MAX
#define EVENTS_SIZE (16 * sizeof(struct inotify_event))

struct uclamp_groups {
	const char *directory;
	int inotify_fd;
	size_t n;
	struct group_file files[UCLAMP_GROUPS_MAX];
};

struct uclamp_groups *uclamp_groups_new(const char *directory)
{
	struct uclamp_groups *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return NULL;
	groups->directory = directory;
	groups->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return groups->inotify_fd < 0 ? uclamp_groups_free(groups) : groups;
}

struct uclamp_groups *uclamp_groups_free(struct uclamp_groups *groups)
{
	if (groups) {
		for (size_t i = 0; i < groups->n; i++)
			close_fdp(&groups->files[i].fd);
		close_fdp(&groups->inotify_fd);
		free(groups);
	}
	return NULL;
}

int uclamp_groups_fd(const struct uclamp_groups *groups)
{
	return groups->inotify_fd;
}

/* Removes the entry; the last one moves to its place. */
static void forget(struct uclamp_groups *groups, struct group_file *file)
{
	int parent_wd = file->parent_wd;
	bool shared = false;

	inotify_rm_watch(groups->inotify_fd, file->wd);
	close_fdp(&file->fd);
	*file = groups->files[--groups->n];
	for (size_t i = 0; i < groups->n; i++)
		shared |= groups->files[i].parent_wd == parent_wd;
	if (!shared)
		inotify_rm_watch(groups->inotify_fd, parent_wd);
}

static int save(const struct uclamp_groups *groups)
{
	return group_files_save(groups->directory, groups->files, groups->n);
}

static bool is_gone(const struct group_file *file)
{
	uint32_t now;

	return group_file_read(file->fd, &now) == -ENODEV;
}

static bool is_for(const struct group_file *file, const char *cgroup, enum uclamp_group_end end,
		   uint32_t rule)
{
	return file->end == end && file->rule == rule && (!cgroup || !strcmp(file->cgroup, cgroup));
}

bool uclamp_groups_has_rule(const struct uclamp_groups *groups, const char *cgroup,
			    enum uclamp_group_end end, uint32_t rule)
{
	for (size_t i = 0; i < groups->n; i++)
		if (is_for(&groups->files[i], cgroup, end, rule))
			return true;
	return false;
}

/* From the last to the first, as forget() moves the last entry. Entries that fail stay. */
void uclamp_groups_drop(struct uclamp_groups *groups, const char *cgroup, enum uclamp_group_end end,
			uint32_t rule)
{
	size_t before = groups->n;

	for (size_t i = groups->n; i-- > 0;) {
		struct group_file *file = &groups->files[i];

		if (is_for(file, cgroup, end, rule) && group_file_restore(file, NULL, NULL) == 0)
			forget(groups, file);
	}
	if (groups->n < before)
		save(groups);
}

void uclamp_groups_begin_claims(struct uclamp_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		groups->files[i].rule = UNCLAIMED;
}

void uclamp_groups_end_claims(struct uclamp_groups *groups)
{
	uclamp_groups_drop(groups, NULL, UCLAMP_GROUP_MIN, UNCLAIMED);
	uclamp_groups_drop(groups, NULL, UCLAMP_GROUP_MAX, UNCLAIMED);
}

/* Returns the watch descriptor of inotify or a negative errno. */
static int watch(const struct uclamp_groups *groups, const char *cgroup, const char *file)
{
	char path[PATH_MAX];
	int wd;

	if (snprintf(path, sizeof(path), "%s/%s", cgroup, file) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	wd = inotify_add_watch(groups->inotify_fd, path, IN_CLOSE_WRITE | IN_DONT_FOLLOW);
	return wd < 0 ? -errno : wd;
}

static int add(struct uclamp_groups *groups, const char *cgroup, enum uclamp_group_end end,
	       struct group_file **ret)
{
	struct group_file *file;
	int r;

	/* No event reports the removal of a group: drops the entries of removed ones. */
	for (size_t i = groups->n; i-- > 0;)
		if (is_gone(&groups->files[i]))
			forget(groups, &groups->files[i]);
	file = &groups->files[groups->n];
	if (groups->n == UCLAMP_GROUPS_MAX)
		return -ENOSPC;
	if (strlen(cgroup) >= sizeof(file->cgroup))
		return -ENAMETOOLONG;
	*file = (struct group_file){ .end = end };
	strcpy(file->cgroup, cgroup);
	file->fd = group_file_open(cgroup, end, &file->inode);
	if (file->fd < 0)
		return file->fd;
	r = group_file_read(file->fd, &file->own);
	if (r < 0) {
		close_fdp(&file->fd);
		return r;
	}
	file->was = file->put = file->own;
	groups->n++;
	file->wd = watch(groups, cgroup, uclamp_group_file(end));
	file->parent_wd = watch(groups, cgroup, "../cgroup.subtree_control");
	r = file->wd < 0 ? file->wd : file->parent_wd;
	if (r < 0) {
		forget(groups, file);
		return r;
	}
	*ret = file;
	return 0;
}

/* Parents, except for the root, limit a group to their own value. */
static int check_parents(const char *cgroup, uint32_t hundredths)
{
	char parent[PATH_MAX];
	char *slash;

	strcpy(parent, cgroup);
	while ((slash = strrchr(parent, '/'))) {
		_cleanup_close_ int fd = -1;
		uint64_t inode;
		uint32_t now;
		int r;

		*slash = '\0';
		fd = group_file_open(parent, UCLAMP_GROUP_MIN, &inode);
		if (fd < 0)
			return 0;
		r = group_file_read(fd, &now);
		if (r < 0)
			return r;
		if (now < hundredths)
			return -ERANGE;
	}
	return 0;
}

/*
 * Saves the file's line, writes the clamp merged with the group's own, and reads it back. On
 * failure the group has its own clamp, and the entry is dropped.
 */
static int set_file(struct uclamp_groups *groups, struct group_file *file, uint32_t ours,
		    uint32_t rule)
{
	bool is_ours_stricter = file->end == UCLAMP_GROUP_MAX ? ours < file->own : ours > file->own;
	uint32_t merged = is_ours_stricter ? ours : file->own, now = file->put;
	int r;

	file->rule = rule;
	if (merged == now)
		return UCLAMP_GROUPS_UNCHANGED;
	file->was = now;
	file->put = merged;
	r = save(groups);
	if (r == 0)
		r = group_file_write(file->fd, merged);
	if (r == 0)
		r = group_file_read(file->fd, &now);
	if (r == 0 && now == merged)
		return UCLAMP_GROUPS_DONE;
	/* A read of another value: another program wrote meanwhile, and its value stays. */
	file->put = now;
	if (r < 0)
		group_file_restore(file, NULL, NULL);
	forget(groups, file);
	save(groups);
	if (r == 0)
		return -ESTALE;
	return r == -ENODEV ? UCLAMP_GROUPS_GONE : r;
}

int uclamp_groups_set(struct uclamp_groups *groups, const char *cgroup, enum uclamp_group_end end,
		      uint32_t cap, uint32_t rule)
{
	uint32_t ours = (cap * HUNDREDTHS_MAX + UCLAMP_MOST / 2) / UCLAMP_MOST;
	struct group_file *file = NULL;
	int r;

	assert(cap <= UCLAMP_MOST);
	r = end == UCLAMP_GROUP_MIN ? check_parents(cgroup, ours) : 0;
	if (r < 0)
		return r;
	for (size_t i = 0; i < groups->n && !file; i++)
		if (groups->files[i].end == end && !strcmp(groups->files[i].cgroup, cgroup))
			file = &groups->files[i];
	if (file && is_gone(file)) {
		forget(groups, file);
		file = NULL;
	}
	if (!file)
		r = add(groups, cgroup, end, &file);
	if (r == -ENODEV)
		return UCLAMP_GROUPS_GONE;
	return r < 0 ? r : set_file(groups, file, ours, rule);
}

/* inotify reports our own writes too. */
static void look(struct uclamp_groups *groups, struct group_file *file,
		 uclamp_groups_foreign_t foreign, void *userdata)
{
	struct group_file theirs = *file;
	char value[CONTROL_VALUE_SIZE] = "";
	uint32_t now;
	int r = group_file_read(file->fd, &now);

	if (r == 0 && now == file->put)
		return;
	if (r == 0)
		control_read(file->fd, value, sizeof(value));
	forget(groups, file);
	save(groups);
	if (r == 0 && theirs.rule != UNCLAIMED)
		foreign(userdata, theirs.cgroup, theirs.end, theirs.rule, value);
}

/* Returns whether controllers were switched, or may have been: events were lost. */
static bool handle_event(struct uclamp_groups *groups, const struct inotify_event *event,
			 uclamp_groups_foreign_t foreign, void *userdata)
{
	bool overflow = event->mask & IN_Q_OVERFLOW, switched = overflow;

	for (size_t i = groups->n; i-- > 0;) {
		/* foreign() may have dropped other entries. */
		if (i >= groups->n)
			continue;
		switched |= groups->files[i].parent_wd == event->wd;
		/* After an overflow any file may have changed. */
		if (overflow || groups->files[i].wd == event->wd)
			look(groups, &groups->files[i], foreign, userdata);
	}
	return switched;
}

bool uclamp_groups_read(struct uclamp_groups *groups, uclamp_groups_foreign_t foreign,
			void *userdata)
{
	char events[EVENTS_SIZE] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool switched = false;
	ssize_t n;

	while ((n = read(groups->inotify_fd, events, sizeof(events))) > 0) {
		const struct inotify_event *event;

		for (ssize_t at = 0; at < n; at += (ssize_t)sizeof(*event) + event->len) {
			event = (const void *)(events + at);
			switched |= handle_event(groups, event, foreign, userdata);
		}
	}
	return switched;
}

int uclamp_groups_release(struct uclamp_groups *groups, restore_report_t report, void *userdata)
{
	int error = 0, r;

	for (size_t i = groups->n; i-- > 0;) {
		r = group_file_restore(&groups->files[i], report, userdata);
		if (r == 0)
			forget(groups, &groups->files[i]);
		error = error ?: r;
	}
	r = save(groups);
	return error ?: r;
}
