/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The hints that outlast the daemon: RUN_DIR/hints. Those that a client holds do not. Which
 * processes inherited one is kept as well, since their parents may be gone by the next start.
 */

#include "rules/rules.h"

#define HINT_FILE "hints"

/* Returns 0 or a negative errno; then the file is as it was. */
int hint_file_save(const char *directory, const struct rules *rules);

/*
 * Adds those of the file whose end is after now_ns. To be called before tasks are taken. Returns 0,
 * also without a file, or a negative errno of statefile_open() or statefile_next(): then some may
 * be there, and some not.
 */
int hint_file_load(const char *directory, uint64_t now_ns, struct rules *rules);
