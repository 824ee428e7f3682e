/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* io.wakegov.Tasks: chosen, sorted, and a page of them. */

#include "query/call.h"
#include "query/reply.h"

/* Reading command lines takes the daemon's time: no page with them is longer. */
#define TASKS_COMMANDS_MAX 100

int tasks_list(const struct call *call, struct reply *reply);
