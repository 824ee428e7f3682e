// SPDX-License-Identifier: GPL-2.0-only
#include "shared/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "shared/cleanup.h"

static int write_new(int directory, const char *name, int (*write)(FILE *file, const void *data),
		     const void *data)
{
	int r, fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			   0644);
	_cleanup_fclose_ FILE *file = NULL;

	if (fd < 0)
		return -errno;
	file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	r = write(file, data);
	if (r == 0 && fflush(file))
		r = -errno;
	return r == 0 && ferror(file) ? -EIO : r;
}

int replace_file(int directory, const char *name, int (*write)(FILE *file, const void *data),
		 const void *data)
{
	char temporary[REPLACE_NAME_SIZE];
	int r = snprintf(temporary, sizeof(temporary), "%s.new", name);

	if (r >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	/* Left over from a crash between here and the rename. */
	r = replace_remove(directory, temporary);
	if (r < 0)
		return r;
	r = write_new(directory, temporary, write, data);
	if (r == 0 && renameat(directory, temporary, directory, name) < 0)
		r = -errno;
	if (r < 0)
		replace_remove(directory, temporary);
	return r;
}

int replace_remove(int directory, const char *name)
{
	return unlinkat(directory, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}
