// SPDX-License-Identifier: GPL-2.0-only
#include "policy/load.h"

#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/draft.h"
#include "policy/dropins.h"
#include "policy/file.h"
#include "policy/parse.h"
#include "policy/rules.h"
#include "shared/cleanup.h"

static bool is_link(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

static int load_file(struct policy_draft *draft, const char *path, bool may_be_missing,
		     char **ret_message)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	int r;

	r = policy_file_read(path, &text, &size, ret_message);
	/* A link to nothing is there. */
	if (r == -ENOENT && may_be_missing && !is_link(path)) {
		free(*ret_message);
		*ret_message = NULL;
		return 0;
	}
	if (r < 0)
		return r;
	return policy_parse(draft, path, text, size, ret_message);
}

/* Who may write the directory can put another file there; not where it is sticky, as /tmp is. */
static int check_directory(const char *path, char **ret_message)
{
	_cleanup_free_ char *copy = strdup(path);
	const char *directory = copy ? dirname(copy) : NULL;
	struct stat status;

	if (!directory)
		return -ENOMEM;
	if (stat(directory, &status) < 0 || status.st_mode & S_ISVTX)
		return 0;
	return policy_file_check_writers(directory, &status, ret_message);
}

/* A drop-in may be gone since the directory was listed. */
static int load_files(struct policy_draft *draft, const char *path, bool may_be_missing,
		      const struct policy_dropins *dropins, char **ret_message)
{
	int r;

	r = check_directory(path, ret_message);
	if (r == 0)
		r = load_file(draft, path, may_be_missing, ret_message);
	for (size_t i = 0; i < dropins->n && r == 0; i++)
		r = load_file(draft, dropins->paths[i], true, ret_message);
	if (r < 0)
		return r;
	r = policy_rules_finish(&draft->policy, ret_message);
	if (r < 0)
		return r;
	return policy_draft_check(draft, ret_message);
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
