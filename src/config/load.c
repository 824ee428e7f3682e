// SPDX-License-Identifier: GPL-2.0-only
#include "config/load.h"

#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>

#include "config/draft.h"
#include "config/dropins.h"
#include "config/error.h"
#include "config/file.h"
#include "config/parse.h"
#include "config/rules.h"
#include "shared/cleanup.h"

static bool is_link(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* Adds to the lines of *faults. */
static int load_file(struct policy_draft *draft, const char *path, bool may_be_missing,
		     char **faults)
{
	_cleanup_free_ char *text = NULL, *message = NULL;
	size_t size;
	int r;

	r = policy_file_read(path, &text, &size, &message);
	/* A link to nothing is there. */
	if (r == -ENOENT && may_be_missing && !is_link(path))
		return 0;
	if (r == 0)
		r = policy_parse(draft, path, text, size, &message);
	if (r < 0)
		policy_error_append(faults, take_ptr(message));
	return r;
}

/* Who may write the directory can put another file there; not where it is sticky, as /tmp is. */
static int check_directory(const char *path, char **faults)
{
	_cleanup_free_ char *copy = strdup(path);
	const char *directory = copy ? dirname(copy) : NULL;
	char *message = NULL;
	struct stat status;
	int r;

	if (!directory)
		return -ENOMEM;
	if (stat(directory, &status) < 0 || status.st_mode & S_ISVTX)
		return 0;
	r = policy_file_check_writers(directory, &status, &message);
	if (r < 0)
		policy_error_append(faults, message);
	return r;
}

/*
 * What has a fault does not keep the rest from being read: all faults are told at once. A drop-in
 * may be gone since the directory was listed.
 */
static int load_files(struct policy_draft *draft, const char *path, bool may_be_missing,
		      const struct policy_dropins *dropins, char **faults)
{
	int error = check_directory(path, faults), r;

	r = load_file(draft, path, may_be_missing, faults);
	error = error ?: r;
	for (size_t i = 0; i < dropins->n; i++) {
		r = load_file(draft, dropins->paths[i], true, faults);
		error = error ?: r;
	}
	r = policy_rules_finish(&draft->policy, faults);
	error = error ?: r;
	r = policy_draft_check(draft, faults);
	return error ?: r;
}

int policy_load(const char *path, bool may_be_missing, const char *dropin_dir, struct policy *ret,
		char **ret_message)
{
	_cleanup_(policy_dropins_free) struct policy_dropins dropins = {};
	struct policy_draft draft;
	char *message = NULL;
	int r = 0;

	policy_draft_init(&draft);
	if (dropin_dir)
		r = policy_dropins_list(dropin_dir, &dropins, &message);
	if (r == 0)
		r = load_files(&draft, path, may_be_missing, &dropins, &message);
	if (r < 0) {
		/* Where memory was too short for a better one. */
		*ret_message = message ?: strdup("cannot read the policy: out of memory");
		return r;
	}
	*ret = draft.policy;
	return 0;
}
