// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/relatives.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "shared/cleanup.h"

struct relatives relatives_of(uint32_t pid)
{
	_cleanup_fclose_ FILE *file = NULL;
	struct relatives relatives = { 0 };
	char path[48], line[128];

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %u", &relatives.process) == 0 &&
		    sscanf(line, "PPid: %u", &relatives.parent) == 1)
			break;
	return relatives;
}

static void each_number(const char *path, void (*visit)(void *userdata, uint32_t number),
			void *userdata)
{
	_cleanup_closedir_ DIR *directory = opendir(path);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]))
			visit(userdata, (uint32_t)strtoul(entry->d_name, NULL, 10));
}

struct walk {
	void (*visit)(void *userdata, uint32_t pid);
	void *userdata;
};

static void visit_process(void *userdata, uint32_t process)
{
	const struct walk *walk = userdata;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/task", process);
	each_number(path, walk->visit, walk->userdata);
}

void relatives_each_task(void (*visit)(void *userdata, uint32_t pid), void *userdata)
{
	struct walk walk = { visit, userdata };

	each_number("/proc", visit_process, &walk);
}
