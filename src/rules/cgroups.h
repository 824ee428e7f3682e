/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The cgroups of the unified hierarchy. */

#include <stdbool.h>

/* The mount point of the hierarchy; "" if there is none. Looked up once. */
const char *cgroups_mount(void);

bool cgroups_have_path(const char *path);

/*
 * Whether the unit has a directory in the hierarchy. True without a hierarchy, as it is not known
 * then.
 */
bool cgroups_have_unit(const char *unit);
