// SPDX-License-Identifier: GPL-2.0-only
#include "fake-files.h"

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char fake_root[64];

int fake_files_set_up(void **state)
{
	strcpy(fake_root, "/tmp/wakegov-files-XXXXXX");
	return mkdtemp(fake_root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

int fake_files_tear_down(void **state)
{
	return nftw(fake_root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void fake_file(const char *path, const char *format, ...)
{
	char full[256];
	va_list args;
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", fake_root, path);
	for (char *slash = strchr(full + strlen(fake_root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	fputc('\n', file);
	fclose(file);
}

void fake_file_remove(const char *path)
{
	char full[256];

	snprintf(full, sizeof(full), "%s/%s", fake_root, path);
	assert_int_equal(unlink(full), 0);
}
