// SPDX-License-Identifier: GPL-2.0-only
#include "rules/texts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/cgroups.h"
#include "shared/cleanup.h"

#define CGROUPS_MAX 1024 /* known at a time; more of them are read again and again */
#define TEXT_SIZE   4096
#define DELETED	    " (deleted)"
#define CGROUP_LINE "0::"

struct cgroup_text {
	uint64_t id; /* 0: free */
	char *path;
};

struct texts {
	struct cgroup_text cgroups[CGROUPS_MAX];
	uint32_t tgid; /* of the process that exe and command are of … */
	uint32_t have; /* … as far as they were read: POLICY_MATCH_EXE, POLICY_MATCH_COMMAND */
	char exe[TEXT_SIZE];
	char command[TEXT_SIZE];
	char path[TEXT_SIZE]; /* of a cgroup that is not kept */
};

struct texts *texts_new(void)
{
	return calloc(1, sizeof(struct texts));
}

struct texts *texts_free(struct texts *texts)
{
	for (int i = 0; texts && i < CGROUPS_MAX; i++)
		free(texts->cgroups[i].path);
	free(texts);
	return NULL;
}

/* Returns how many bytes, of which as many as fit, with a NUL after them; 0: none. */
static size_t read_file(const char *path, char ret[static TEXT_SIZE])
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t n = 0;

	while (fd >= 0 && length < TEXT_SIZE - 1 &&
	       (n = read(fd, ret + length, TEXT_SIZE - 1 - length)) > 0)
		length += n;
	ret[length] = '\0';
	return length;
}

static const char *read_exe(struct texts *texts)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/exe", texts->tgid);
	n = readlink(path, texts->exe, sizeof(texts->exe) - 1);
	texts->exe[n > 0 ? n : 0] = '\0';
	/* A program that was replaced, as by an update, is still what it was. */
	if (n > (ssize_t)strlen(DELETED) && !strcmp(texts->exe + n - strlen(DELETED), DELETED))
		texts->exe[n - strlen(DELETED)] = '\0';
	return texts->exe;
}

/* Arguments end with a NUL each. */
static const char *read_command(struct texts *texts)
{
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", texts->tgid);
	n = read_file(path, texts->command);
	while (n && !texts->command[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!texts->command[i])
			texts->command[i] = ' ';
	return texts->command;
}

static const char *get_of_process(struct texts *texts, uint32_t tgid, enum policy_match_key key)
{
	char *text = key == POLICY_MATCH_EXE ? texts->exe : texts->command;

	if (texts->tgid != tgid)
		texts->have = 0;
	texts->tgid = tgid;
	if (!(texts->have & key)) {
		texts->have |= key;
		key == POLICY_MATCH_EXE ? read_exe(texts) : read_command(texts);
	}
	return text[0] ? text : NULL;
}

/* The task may have been moved since its facts were taken: then this is not the path of its id. */
static bool is_path_of(uint64_t id, const char *path)
{
	char directory[2 * TEXT_SIZE];
	struct stat st;

	snprintf(directory, sizeof(directory), "%s%s", cgroups_mount(), path);
	return cgroups_mount()[0] && stat(directory, &st) == 0 && st.st_ino == id;
}

static const char *read_cgroup(struct texts *texts, const struct task_facts *facts,
			       struct cgroup_text *keep)
{
	char file[64], text[TEXT_SIZE], *line;

	snprintf(file, sizeof(file), "/proc/%u/cgroup", facts->pid);
	read_file(file, text);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (!strncmp(line, CGROUP_LINE, strlen(CGROUP_LINE)))
			break;
	if (!line)
		return NULL;
	strcpy(texts->path, line + strlen(CGROUP_LINE));
	if (is_path_of(facts->cgroup_id, texts->path)) {
		free(keep->path);
		*keep = (struct cgroup_text){ facts->cgroup_id, strdup(texts->path) };
	}
	return texts->path;
}

static const char *get_cgroup(struct texts *texts, const struct task_facts *facts)
{
	struct cgroup_text *cgroup = &texts->cgroups[facts->cgroup_id % CGROUPS_MAX];

	if (cgroup->id == facts->cgroup_id && cgroup->path)
		return cgroup->path;
	return read_cgroup(texts, facts, cgroup);
}

const char *texts_get(struct texts *texts, const struct task_facts *facts,
		      enum policy_match_key key)
{
	if (key == POLICY_MATCH_CGROUP)
		return get_cgroup(texts, facts);
	return facts->kernel_thread ? NULL : get_of_process(texts, facts->tgid, key);
}

void texts_forget_process(struct texts *texts)
{
	texts->tgid = 0;
}
