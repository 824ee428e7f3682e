/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The textual facts of a task: program, command line, cgroup. The path of a cgroup is read once,
 * unless there are too many; the program of a process is read once for consecutive threads of it.
 *
 * Nothing here reads a process's memory, as /proc/PID/cmdline does: that takes its mmap lock and
 * may wait for its pages, which may come from a file system of the process's owner.
 */

#include "core/settings.h"
#include "tracer/facts.h"

struct texts;

/* NULL without memory. read_process may be NULL where no rule goes by exe or command. */
struct texts *texts_new(process_facts_t read_process, void *userdata);
struct texts *texts_free(struct texts *texts);

/*
 * The text for POLICY_MATCH_EXE, POLICY_MATCH_COMMAND or POLICY_MATCH_CGROUP. NULL if there is
 * none, as for a kernel thread, or it is not known: then *ret_unknown is the reason, else NULL.
 * Both are borrowed until the next call.
 */
const char *texts_get(struct texts *texts, const struct task_facts *facts,
		      enum policy_match_key key, const char **ret_unknown);

/* Drops the cached program of a process, which may have changed. */
void texts_forget_process(struct texts *texts);
