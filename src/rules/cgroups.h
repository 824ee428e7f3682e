/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Which cgroups there are in the unified hierarchy now. */

#include <stdbool.h>

/* Where it is mounted; "" if it is nowhere. Looked up once. */
const char *cgroups_mount(void);

bool cgroups_have_path(const char *path);

/* Whether the unit has a directory in it. Without the hierarchy: true, nobody knows. */
bool cgroups_have_unit(const char *unit);
