/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The facts of a task that are texts and lie in files: its program, its command line, its cgroup.
 * A cgroup is read once, as long as there are not too many; what a process runs is read once for
 * all of its threads that are asked about in a row.
 */

#include "core/policy.h"
#include "rules/facts.h"

struct texts;

/* NULL without memory. */
struct texts *texts_new(void);
struct texts *texts_free(struct texts *texts);

/*
 * Of POLICY_MATCH_EXE, POLICY_MATCH_COMMAND or POLICY_MATCH_CGROUP. NULL where there is none: the
 * task has gone, or is a kernel thread. Borrowed until the next call.
 */
const char *texts_get(struct texts *texts, const struct task_facts *facts,
		      enum policy_match_key key);

/* Reads programs and command lines again: they may have changed. */
void texts_forget_process(struct texts *texts);
