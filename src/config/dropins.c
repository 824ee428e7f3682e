// SPDX-License-Identifier: GPL-2.0-only
#include "config/dropins.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/error.h"
#include "config/file.h"

/* Not hidden, and not what an editor or a package manager left: those end differently. */
static int is_dropin(const struct dirent *entry)
{
	const char *name = entry->d_name;
	size_t length = strlen(name);

	return name[0] != '.' && length > strlen(".conf") &&
	       !strcmp(name + length - strlen(".conf"), ".conf");
}

/* Not alphasort(): the order must not depend on the locale. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_paths(const char *directory, struct dirent **entries, int n,
		     struct policy_dropins *dropins, char **ret_message)
{
	if (n > POLICY_DROPINS_MAX)
		return policy_error_set(
			ret_message, -E2BIG, (struct policy_place){ .file = directory },
			"found %d files, expected at most %d", n, POLICY_DROPINS_MAX);

	for (int i = 0; i < n; i++) {
		char *path;

		if (asprintf(&path, "%s/%s", directory, entries[i]->d_name) < 0)
			return -ENOMEM;
		dropins->paths[dropins->n++] = path;
	}
	return 0;
}

/* No directory is as good as an empty one; one that cannot be seen into is not. */
static int check_missing(const char *directory, int error, char **ret_message)
{
	struct policy_place place = { .file = directory };
	struct stat st;

	if (error == -ENOENT && lstat(directory, &st) < 0)
		return 0;
	errno = -error;
	return policy_error_set(ret_message, error, place,
				"cannot be read: %m; expected a directory of drop-ins");
}

int policy_dropins_list(const char *directory, struct policy_dropins *dropins, char **ret_message)
{
	struct dirent **entries;
	struct stat status;
	int n, r;

	if (stat(directory, &status) < 0)
		return check_missing(directory, -errno, ret_message);
	r = policy_file_check_writers(directory, &status, ret_message);
	if (r < 0)
		return r;
	n = scandir(directory, &entries, is_dropin, compare_names);
	if (n < 0)
		return check_missing(directory, -errno, ret_message);

	r = add_paths(directory, entries, n, dropins, ret_message);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	return r;
}

void policy_dropins_free(struct policy_dropins *dropins)
{
	for (size_t i = 0; i < dropins->n; i++)
		free(dropins->paths[i]);
	dropins->n = 0;
}
