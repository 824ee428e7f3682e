/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Scope-bound release of resources. Declare with _cleanup_(function), where function takes a
 * pointer to the variable; hand ownership on with take_fd() or take_ptr().
 */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

static inline void close_fdp(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define _cleanup_close_	   _cleanup_(close_fdp)
#define _cleanup_free_	   _cleanup_(freep)
#define _cleanup_fclose_   _cleanup_(fclosep)
#define _cleanup_closedir_ _cleanup_(closedirp)

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define take_ptr(ptr)                       \
	({                                  \
		__typeof__(ptr) _p = (ptr); \
		(ptr) = NULL;               \
		_p;                         \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
