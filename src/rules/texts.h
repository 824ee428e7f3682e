/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The facts of a task that are texts: its program, its command line, its cgroup. The path of a
 * cgroup is read once, as long as there are not too many; what a process runs is asked for once for
 * all of its threads that are looked at in a row.
 *
 * Nothing here reads the memory of a process, /proc/PID/cmdline for one: that takes the lock of its
 * memory, and waits for what its pages come from, which may be a file system of its owner.
 */

#include "core/settings.h"
#include "tracer/facts.h"

struct texts;

/* NULL without memory. read_process may be NULL where no rule goes by exe or command. */
struct texts *texts_new(process_facts_t read_process, void *userdata);
struct texts *texts_free(struct texts *texts);

/*
 * Of POLICY_MATCH_EXE, POLICY_MATCH_COMMAND or POLICY_MATCH_CGROUP. NULL where there is none, as of
 * a kernel thread, or it is not known: then *ret_unknown says why, else it is NULL. Both borrowed
 * until the next call.
 */
const char *texts_get(struct texts *texts, const struct task_facts *facts,
		      enum policy_match_key key, const char **ret_unknown);

/* Asks again for what processes run: it may have changed. */
void texts_forget_process(struct texts *texts);
