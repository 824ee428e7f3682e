// SPDX-License-Identifier: GPL-2.0-only
#include "rules/cgroups.h"

#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/match.h"
#include "shared/cleanup.h"

const char *cgroups_mount(void)
{
	static char mount[256];
	_cleanup_fclose_ FILE *mounts = NULL;
	char line[1024], path[256], type[32];

	if (mount[0])
		return mount;
	mounts = fopen("/proc/self/mounts", "re");
	while (mounts && !mount[0] && fgets(line, sizeof(line), mounts))
		if (sscanf(line, "%*s %255s %31s", path, type) == 2 && !strcmp(type, "cgroup2"))
			strcpy(mount, path);
	return mount;
}

bool cgroups_have_path(const char *path)
{
	char directory[4096];
	struct stat st;

	snprintf(directory, sizeof(directory), "%s%s", cgroups_mount(), path);
	return !cgroups_mount()[0] || stat(directory, &st) == 0;
}

bool cgroups_have_unit(const char *unit)
{
	char *paths[] = { (char *)cgroups_mount(), NULL };
	bool found = !paths[0][0];
	FTS *tree = NULL;
	FTSENT *entry;

	if (!found)
		tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (tree && !found && (entry = fts_read(tree)))
		found = entry->fts_info == FTS_D &&
			match_unit(unit, entry->fts_path + strlen(cgroups_mount()));
	if (tree)
		fts_close(tree);
	return found;
}
