/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Saves the hints that outlast the daemon in RUN_DIR/hints; those that a client holds end with it.
 * Processes that inherited a hint are saved too, as their parents may be gone at the next start.
 */

#include "rules/rules.h"

#define HINT_FILE "hints"

/* Returns 0, or a negative errno with the file unchanged. */
int hint_file_save(const char *directory, const struct rules *rules);

/*
 * Adds the file's hints that end after now_ns. Call it before tasks are taken. Returns 0, also
 * without a file, or a negative errno of statefile_open() or statefile_next() with some hints
 * perhaps added.
 */
int hint_file_load(const char *directory, uint64_t now_ns, struct rules *rules);
