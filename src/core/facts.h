/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The facts of tasks and processes that rules match, at one moment. */

#include <stdint.h>

#include "wakegov/record.h"

typedef void (*facts_handler_t)(void *userdata, const struct task_facts *facts);

/* The program of a process. If a text is unknown, its second field gives the reason, for people. */
struct process_facts {
	char exe[768];
	const char *exe_unknown; /* NULL: it is known */
	char command[3072];	 /* arguments with a blank between them, cut to fit */
	const char *command_unknown;
};

typedef void (*process_facts_t)(void *userdata, uint32_t tgid, struct process_facts *ret);
