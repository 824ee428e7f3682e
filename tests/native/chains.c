// SPDX-License-Identifier: GPL-2.0-only
#include "native.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "chains.h"
#include "tracer/tracer_private.h"
#include "work.h"

pid_t chains_start(const char *mode, bool realtime)
{
	char path[256];
	const char *build = getenv("WAKEGOV_BUILD");
	const char *nice[] = { "nice", "-n", "-20", path, mode, "30", NULL };
	const char *chrt[] = { "chrt", "-f", "1", path, mode, "30", NULL };

	snprintf(path, sizeof(path), "%s/tests/lab/chainload", build ? build : ".");
	return work_exec(realtime ? chrt : nice);
}

void chains_follow(const struct native *native)
{
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		native->tracer->cpus[cpu].domain = WAKEGOV_NO_DOMAIN;
	tracer_follow_chains(native->tracer, true);
}

void chains_settle(const struct native *native, bool settled)
{
	native->tracer->programs.bss->chains_change = !settled;
	if (settled)
		native->tracer->programs.bss->chains_pause_ns = 0;
}

void chains_look(const struct native *native, pid_t process,
		 void (*see)(uint32_t pid, const struct chain_task *chain, void *userdata),
		 void *userdata)
{
	char path[64];
	struct dirent *entry;
	struct chain_task chain;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	threads = opendir(path);
	while (threads && (entry = readdir(threads)))
		if (tracer_chain(native->tracer, atoi(entry->d_name), &chain))
			see(atoi(entry->d_name), &chain, userdata);
	if (threads)
		closedir(threads);
}
