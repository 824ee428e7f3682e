// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a task's program, command line and cgroup for the keys that need them, once for each
 * process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/rules_private.h"
#include "shared/sysfs.h"

#define CGROUPS_MAX 1024 /* cached; further ones are read again each time */
#define TEXT_SIZE   4096

struct cgroup_text {
	uint64_t id; /* 0: free */
	char *path;
};

struct texts {
	struct cgroup_text cgroups[CGROUPS_MAX];
	process_facts_t read_process;
	void *userdata;
	uint32_t tgid; /* process of `process`; 0: none was read */
	struct process_facts process;
	char path[TEXT_SIZE]; /* path of a cgroup that is not cached */
};

struct texts *texts_new(process_facts_t read_process, void *userdata)
{
	struct texts *texts = calloc(1, sizeof(*texts));

	if (texts) {
		texts->read_process = read_process;
		texts->userdata = userdata;
	}
	return texts;
}

struct texts *texts_free(struct texts *texts)
{
	for (int i = 0; texts && i < CGROUPS_MAX; i++)
		free(texts->cgroups[i].path);
	free(texts);
	return NULL;
}

static const char *get_cgroup(struct texts *texts, const struct task_facts *facts,
			      const char **ret_unknown)
{
	struct cgroup_text *cgroup = &texts->cgroups[facts->cgroup_id % CGROUPS_MAX];
	char directory[2 * TEXT_SIZE];
	struct stat st;
	int r;

	if (cgroup->id == facts->cgroup_id && cgroup->path)
		return cgroup->path;
	r = sysfs_read_tagged(texts->path, sizeof(texts->path), "0::", "/proc/%u/cgroup",
			      facts->pid);
	if (r < 0)
		*ret_unknown = strerror(-r);
	if (r <= 0)
		return NULL;
	/* The task may have moved since: this is then another cgroup's path. */
	snprintf(directory, sizeof(directory), "%s%s", sysfs_cgroup_mount(), texts->path);
	if (sysfs_cgroup_mount()[0] && stat(directory, &st) == 0 && st.st_ino == facts->cgroup_id) {
		free(cgroup->path);
		*cgroup = (struct cgroup_text){ facts->cgroup_id, strdup(texts->path) };
	}
	return texts->path;
}

const char *texts_get(void *userdata, const struct task_facts *facts, enum policy_match_key key,
		      const char **ret_unknown)
{
	struct texts *texts = userdata;
	const struct process_facts *process = &texts->process;
	bool is_exe = key == POLICY_MATCH_EXE;

	*ret_unknown = NULL;
	if (key == POLICY_MATCH_CGROUP)
		return get_cgroup(texts, facts, ret_unknown);
	if (facts->kernel_thread)
		return NULL;
	if (texts->tgid != facts->tgid)
		texts->read_process(texts->userdata, facts->tgid, &texts->process);
	texts->tgid = facts->tgid;
	*ret_unknown = is_exe ? process->exe_unknown : process->command_unknown;
	if (*ret_unknown)
		return NULL;
	return is_exe ? process->exe : process->command;
}

void texts_forget_process(struct texts *texts)
{
	texts->tgid = 0;
}
