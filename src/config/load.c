// SPDX-License-Identifier: GPL-2.0-only
/* Loads a policy: the main file, then drop-ins in the order of their names, whole or not at all. */
#include "config/load.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/draft.h"
#include "config/error.h"
#include "shared/cleanup.h"

/* The draft refers to these paths. */
struct policy_files {
	char *path;
	struct policy_dropins dropins;
	struct policy_draft draft;
};

/* wakegov.conf(5) describes quiet and performance. */
static const char built_in_profiles[] = "[profile " POLICY_PROFILE_DEFAULT "]\n"
					"[profile quiet]\n"
					"domain.max-frequency = 60%\n"
					"domain.energy-preference = power\n"
					"io-boost.slack = 10%\n"
					"utilisation.waiting = none\n"
					"[profile performance]\n"
					"domain.min-frequency = 60%\n"
					"domain.energy-preference = performance\n"
					"domain.headroom = 200%\n"
					"domain.rise-time = 4ms\n"
					"domain.down-hold = 100ms\n"
					"io-boost.slack = 1%\n"
					"utilisation.waiting = 1000W\n";

/* Adds to the lines of *faults. */
static int load_file(struct policy_draft *draft, const char *path, bool may_be_missing,
		     char **faults)
{
	_cleanup_free_ char *text = NULL, *message = NULL;
	struct stat status;
	size_t size;
	int r;

	r = policy_file_read(path, &text, &size, &message);
	/* A link whose target is missing is a file. */
	if (r == -ENOENT && may_be_missing &&
	    (lstat(path, &status) < 0 || !S_ISLNK(status.st_mode)))
		return 0;
	if (r == 0)
		r = policy_parse(draft, path, text, size, &message);
	if (r < 0)
		policy_error_append(faults, take_ptr(message));
	return r;
}

/* Those who may write the directory can replace the file, unless it is sticky, as /tmp is. */
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

/* Whether the origin is a key of another section, which this profile sets; NULL: any profile. */
static bool is_setting(const struct policy_origin *origin, const char *profile)
{
	const char *name = origin->section + strlen("profile ");

	return !strncmp(origin->section, "profile ", strlen("profile ")) && origin->key[0] &&
	       strcmp(origin->key, "when") != 0 && (!profile || !strcmp(name, profile));
}

/* Marks the rules that profiles use, as a condition or by a setting "rule NAME.KEY". */
static void mark_rules(const struct policy_draft *base, struct policy *policy)
{
	for (uint32_t i = 0; i < base->profiles.n; i++) {
		struct policy_rule *rule = policy_rules_find(policy,
							     base->profiles.entries[i].when.rule);

		if (rule)
			rule->is_condition = true;
	}
	for (size_t i = 0; i < base->origins.n; i++) {
		const char *name = base->origins.entries[i].key;
		char own[POLICY_NAME_SIZE];
		struct policy_rule *rule;

		if (!is_setting(&base->origins.entries[i], NULL) ||
		    strncmp(name, "rule ", strlen("rule ")) != 0)
			continue;
		name += strlen("rule ");
		snprintf(own, sizeof(own), "%.*s", (int)(strrchr(name, '.') - name), name);
		rule = policy_rules_find(policy, own);
		if (rule)
			rule->is_filled = true;
	}
}

/*
 * profile NULL: none. ret NULL: only checks. Adds to the lines of *faults. A draft has 100 KiB,
 * which the stack would keep.
 */
static int finish(const struct policy_draft *base, const struct policy_profile *profile,
		  struct policy *ret, char **faults)
{
	_cleanup_free_ struct policy_draft *draft = malloc(sizeof(*draft));
	int error = 0, r;

	if (!draft)
		return -ENOMEM;
	*draft = *base;
	draft->origins = (struct policy_origins){ .below = &base->origins };
	for (size_t i = 0; profile && i < base->origins.n; i++) {
		char *message = NULL;

		if (!is_setting(&base->origins.entries[i], profile->name))
			continue;
		r = policy_section_apply(draft, &base->origins.entries[i], &message);
		policy_error_append(faults, message);
		error = error ?: r;
	}
	r = policy_rules_finish(draft, faults);
	error = error ?: r;
	r = profile ? 0 : policy_draft_check(draft, faults);
	error = error ?: r;
	mark_rules(base, &draft->policy);
	if (ret)
		policy_copy(ret, &draft->policy);
	policy_origins_deinit(&draft->origins);
	return error;
}

/* Checks every profile now, so that none fails when it comes into force. */
static int check_profile(struct policy_draft *draft, const struct policy_profile *profile,
			 char **faults)
{
	char section[sizeof("profile ") + POLICY_NAME_SIZE], *message = NULL;
	int r = finish(draft, profile, NULL, faults);

	if (!profile->when.rule[0] || policy_rules_find(&draft->policy, profile->when.rule))
		return r;
	snprintf(section, sizeof(section), "profile %s", profile->name);
	r = policy_error_set(&message, -EINVAL,
			     policy_origins_find(&draft->origins, section, "when")->place,
			     "[profile %s] when: found 'rule %s', expected a rule of this policy",
			     profile->name, profile->when.rule);
	policy_error_append(faults, message);
	return r;
}

/*
 * Reads on after a fault, to report all at once. A drop-in may have been removed since the
 * directory was listed.
 */
static int load_files(struct policy_files *files, bool may_be_missing, char **faults)
{
	struct policy_draft *draft = &files->draft;
	int error = check_directory(files->path, faults), r;

	r = policy_parse(draft, POLICY_BUILT_IN_FILE, built_in_profiles, strlen(built_in_profiles),
			 faults);
	error = error ?: r;
	r = load_file(draft, files->path, may_be_missing, faults);
	error = error ?: r;
	for (size_t i = 0; i < files->dropins.n; i++) {
		r = load_file(draft, files->dropins.paths[i], true, faults);
		error = error ?: r;
	}
	r = finish(draft, NULL, NULL, faults);
	error = error ?: r;
	for (uint32_t i = 0; error == 0 && i < draft->profiles.n; i++)
		error = check_profile(draft, &draft->profiles.entries[i], faults);
	return error;
}

struct policy_files *policy_files_free(struct policy_files *files)
{
	if (!files)
		return NULL;
	policy_draft_deinit(&files->draft);
	policy_dropins_free(&files->dropins);
	free(files->path);
	free(files);
	return NULL;
}

/*
 * A file in /etc replaces one of the same name that a program has put into /run for this boot, and
 * that one what a package has brought: systemd's order.
 */
static int list_dropins(const char *directory, struct policy_dropins *ret, char **ret_message)
{
	static const char *const others[] = { WAKEGOV_RUN_DROPINS, WAKEGOV_LIB_DROPINS };
	int r = policy_dropins_add(directory, ret, ret_message);

	if (strcmp(directory, WAKEGOV_POLICY_PATH ".d") != 0)
		return r;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(others); i++)
		r = policy_dropins_add(others[i], ret, ret_message);
	return r;
}

int policy_files_read(const char *path, bool may_be_missing, const char *dropin_dir,
		      struct policy_files **ret, char **ret_message)
{
	struct policy_files *files = calloc(1, sizeof(*files));
	char *message = NULL;
	int r = 0;

	if (files)
		files->path = strdup(path);
	if (files && files->path)
		policy_draft_init(&files->draft);
	else
		r = -ENOMEM;
	if (r == 0 && dropin_dir)
		r = list_dropins(dropin_dir, &files->dropins, &message);
	if (r == 0)
		r = load_files(files, may_be_missing, &message);
	if (r < 0) {
		policy_files_free(files);
		/* If memory was too short for a better message. */
		*ret_message = message ?: strdup("cannot read the policy: out of memory");
		return r;
	}
	*ret = files;
	return 0;
}

const struct policy_origins *policy_files_origins(const struct policy_files *files)
{
	return &files->draft.origins;
}

const struct policy_profiles *policy_files_profiles(const struct policy_files *files)
{
	return &files->draft.profiles;
}

int policy_files_apply(const struct policy_files *files, const struct policy_profile *profile,
		       struct policy *ret)
{
	_cleanup_free_ char *faults = NULL;

	return finish(&files->draft, profile, ret, &faults);
}

int policy_load(const char *path, bool may_be_missing, const char *dropin_dir, struct policy *ret,
		char **ret_message)
{
	struct policy_files *files;
	int r = policy_files_read(path, may_be_missing, dropin_dir, &files, ret_message);

	if (r == 0) {
		r = policy_files_apply(files, policy_files_profiles(files)->entries, ret);
		policy_files_free(files);
	}
	return r;
}
