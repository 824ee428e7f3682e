// SPDX-License-Identifier: GPL-2.0-only
#include "policy/load.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/draft.h"
#include "policy/dropins.h"
#include "policy/file.h"
#include "policy/parse.h"
#include "policy/rules.h"
#include "shared/cleanup.h"

static int load_file(struct policy_draft *draft, const char *path, bool may_be_missing,
		     char **ret_message)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t size;
	int r;

	/* A link to nothing is there. */
	if (may_be_missing && lstat(path, &st) < 0 && errno == ENOENT)
		return 0;
	r = policy_file_read(path, &text, &size, ret_message);
	if (r < 0)
		return r;
	return policy_parse(draft, path, text, size, ret_message);
}

static int load_files(struct policy_draft *draft, const char *path, bool may_be_missing,
		      const struct policy_dropins *dropins, char **ret_message)
{
	int r;

	r = load_file(draft, path, may_be_missing, ret_message);
	for (size_t i = 0; i < dropins->n && r == 0; i++)
		r = load_file(draft, dropins->paths[i], false, ret_message);
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
