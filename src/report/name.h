/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What a task calls itself, fit for a file of text: it may be any bytes, and be cut anywhere. */

#include "core/input.h"

/* UTF-8 without control characters; "?" stands for each byte that is none. */
struct valid_name {
	char text[TASK_COMM_SIZE];
};

struct valid_name name_make_valid(const char *comm);
