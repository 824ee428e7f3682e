/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What the controls held before us, in DIRECTORY/originals, written before the first write to a
 * control. Text:
 *
 *	wakegov originals 1
 *	boot 6d6a5f0e-…                       an earlier boot's file is ignored
 *	/sys/devices/system/cpu/cpufreq/policy0/scaling_governor schedutil userspace
 *	/sys/devices/system/cpu/cpufreq/policy0/scaling_setspeed 1400000 *
 *	end 2                                 the number of controls
 *
 * A control's path, its original, and what we put there (`*`: it changes all the time). The file
 * is replaced as a whole (temporary file and rename), so it is the old one or the new one. A file
 * that is not exactly of this form is refused: nothing but these four files of a policyN can be
 * named in it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actuator/control.h"

#define ORIGINALS_FILE	   "originals"
#define ORIGINALS_ANY	   "*"
#define ORIGINALS_SIZE_MAX (512 * 1024) /* a longer file is refused */

struct original {
	uint32_t policy; /* the N of policyN */
	enum control control;
	char value[CONTROL_VALUE_SIZE]; /* before us */
	char put[CONTROL_VALUE_SIZE];	/* what we put there, or ORIGINALS_ANY */
};

/* The table in memory, and where its file lies. */
struct originals {
	char *directory;
	size_t n;
	struct original *entries;
};

/*
 * Loads the file of `directory`, which must exist; without a file, or with an earlier boot's, the
 * table is empty. Returns 0 or a negative errno: -EBADMSG for a file that is not of the form
 * above, -EPERM for one that another user could have written. The caller frees.
 */
int originals_open(const char *directory, struct originals **ret);

struct originals *originals_free(struct originals *originals);

const struct original *originals_find(const struct originals *originals, uint32_t policy,
				      enum control control);

/*
 * Adds the controls of one domain and saves. A control that is in the table already and still
 * holds what we put (a crash before us that could not be undone) keeps its first original. Returns
 * 0 or a negative errno (-ENOSPC): then table and file are as before.
 */
int originals_add(struct originals *originals, const struct original *entries, size_t n);

/*
 * Drops the controls of one domain, and saves. On failure the table has dropped them, the file may
 * still hold them; the next call that saves tries again.
 */
int originals_forget(struct originals *originals, uint32_t policy);

/* Drops one control from the table only. Returns whether it was there. */
bool originals_drop(struct originals *originals, uint32_t policy, enum control control);

/* Writes the file, or removes it when the table is empty. 0 or a negative errno. */
int originals_save(const struct originals *originals);
