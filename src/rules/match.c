// SPDX-License-Identifier: GPL-2.0-only
#include "rules/match.h"

#include <fnmatch.h>
#include <string.h>

#define PATH_SIZE 4096

static bool is_like(const char *pattern, const char *text)
{
	return text && fnmatch(pattern, text, 0) == 0;
}

bool match_cgroup(const char *pattern, const char *path)
{
	char above[PATH_SIZE];
	size_t length = strlen(path);
	char *slash;

	if (length >= sizeof(above))
		return false;
	memcpy(above, path, length + 1);
	while (fnmatch(pattern, above, FNM_PATHNAME) != 0) {
		slash = strrchr(above, '/');
		if (!slash || !above[1])
			return false;
		slash[slash == above] = '\0';
	}
	return true;
}

bool match_unit(const char *pattern, const char *path)
{
	char part[PATH_SIZE];

	while (*path) {
		size_t length = strcspn(path, "/");
		const char *name = path + (*path == '_');

		path += length;
		if (name < path && length < sizeof(part)) {
			memcpy(part, name, path - name);
			part[path - name] = '\0';
			if (fnmatch(pattern, part, 0) == 0)
				return true;
		}
		path += *path == '/';
	}
	return false;
}

static bool holds(const struct policy_match *match, enum policy_match_key key, uint32_t uid,
		  const struct task_facts *facts, const struct match_texts *texts)
{
	const char *text;

	switch (key) {
	case POLICY_MATCH_COMM:
		return is_like(match->comm, facts->comm);
	case POLICY_MATCH_USER:
		return uid != MATCH_NO_UID && facts->uid == uid;
	case POLICY_MATCH_SCHEDULER:
		return facts->scheduler < 32 && match->schedulers >> facts->scheduler & 1;
	case POLICY_MATCH_NICE:
		return facts->nice >= match->nice_min && facts->nice <= match->nice_max;
	case POLICY_MATCH_KERNEL_THREAD:
		return facts->kernel_thread == match->kernel_thread;
	case POLICY_MATCH_CGROUP:
		text = texts->get(texts->userdata, facts, POLICY_MATCH_CGROUP);
		return text && match_cgroup(match->cgroup, text);
	case POLICY_MATCH_UNIT:
		text = texts->get(texts->userdata, facts, POLICY_MATCH_CGROUP);
		return text && match_unit(match->unit, text);
	case POLICY_MATCH_EXE:
		return is_like(match->exe, texts->get(texts->userdata, facts, key));
	case POLICY_MATCH_COMMAND:
		return is_like(match->command, texts->get(texts->userdata, facts, key));
	}
	return false;
}

uint32_t match_find_mismatch(const struct policy_match *match, uint32_t uid,
			     const struct task_facts *facts, const struct match_texts *texts)
{
	/* What is at hand first, then what is mostly at hand, then files. */
	static const enum policy_match_key order[] = {
		POLICY_MATCH_KERNEL_THREAD, POLICY_MATCH_USER, POLICY_MATCH_NICE,
		POLICY_MATCH_SCHEDULER,	    POLICY_MATCH_COMM, POLICY_MATCH_CGROUP,
		POLICY_MATCH_UNIT,	    POLICY_MATCH_EXE,  POLICY_MATCH_COMMAND,
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (match->given & order[i] && !holds(match, order[i], uid, facts, texts))
			return order[i];
	return 0;
}
