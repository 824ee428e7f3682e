/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What policy files say, while they are read. A line goes from parse.c, which splits the text, to
 * section.c, which knows the open section, and by the section's kind to draft.c, rules.c or
 * profile.c.
 */

#include <stddef.h>
#include <sys/stat.h>

#include "config/error.h"
#include "config/keys.h"
#include "config/load.h"
#include "core/settings.h"

/* The file and line that gave a key its value, or, with an empty key, that began a section. */
struct policy_origin {
	char *section, *key, *value; /* as written */
	struct policy_place place;
	unsigned int order; /* larger ones were given later */
};

/* All zero is an empty table. */
struct policy_origins {
	const struct policy_origins *below; /* of the files, below those of a profile; or NULL */
	struct policy_origin *entries;
	size_t n;
	unsigned int n_added;
};

/* NULL: no file gave it. */
const struct policy_origin *policy_origins_find(const struct policy_origins *origins,
						const char *section, const char *key);
void policy_origins_deinit(struct policy_origins *origins);

/* The number of a section [domain policyN]; POLICY_NO_DOMAIN_SECTION is the section [domain]. */
#define POLICY_NO_DOMAIN_SECTION UINT32_MAX

/* The values, where each was given, and the profiles. */
struct policy_draft {
	struct policy policy;
	struct policy_profiles profiles;
	struct policy_origins origins;
};

/* The built-in defaults, without profiles. */
void policy_draft_init(struct policy_draft *draft);
/* A draft that is all zero may be passed, too. */
void policy_draft_deinit(struct policy_draft *draft);

/*
 * Checks that need the whole policy: a min-frequency over its max-frequency in [domain] or for one
 * domain, where both are in Hz or both in per cent. Returns 0, or -EINVAL and adds to *ret_message
 * a line for each, at the place of the later one.
 */
int policy_draft_check(const struct policy_draft *draft, char **ret_message);

/*
 * Reads one file into a draft, or a profile's setting: the line at hand, what is wrong with it,
 * which section is open and which came before. The functions below return 0, or a negative errno
 * and reader->message, which the caller frees and which is NULL without memory.
 */
struct policy_reader {
	struct policy_draft *draft;
	unsigned int added_before; /* origins.n_added when this file or setting began */
	struct policy_place place;
	char *message;
	/* What policy_shown() gave last, and the suggestion for it. */
	char shown[POLICY_TEXT_SIZE];
	char hint[POLICY_HINT_SIZE];

	bool is_open;
	bool is_refused; /* the open section has a fault; its keys are ignored */
	char section[sizeof("profile ") + POLICY_NAME_SIZE]; /* "io-boost", "rule backup" */
	enum policy_section current;
	uint32_t domain_section; /* of POLICY_SECTION_DOMAIN, or POLICY_NO_DOMAIN_SECTION */

	/* The open section if it is of these kinds, in the draft; all NULL: it is another. */
	struct policy_rule *rule;
	struct policy_class *class;
	struct policy_profile *profile;
	bool has_powers; /* the open section has an opp-power already */
};

/* Sets the message to a sentence about the line at hand. Returns error. */
#define policy_refuse(_reader, _error, ...) \
	policy_error_set(&(_reader)->message, _error, (_reader)->place, __VA_ARGS__)
/*
 * Stores value as key of the open section. place.file must live as long as the draft.
 */
void policy_draft_set(struct policy_reader *reader, const struct policy_key *key,
		      const struct policy_value *value);
/* The text as a message may have it (policy_text_escape()); also fills reader->hint. */
const char *policy_shown(struct policy_reader *reader, const char *text);

/*
 * Opens the section that header names, a line that starts with '[' and has no blanks around it.
 * [domain policyN] gets its place in the draft.
 */
int policy_section_open(struct policy_reader *reader, const char *header);
/* Puts "name = text" into the draft; needs an open section. */
int policy_section_assign(struct policy_reader *reader, const char *name, const char *text);
/* Puts what a profile sets into the draft; the origin's key is "SECTION.KEY". */
int policy_section_apply(struct policy_draft *draft, const struct policy_origin *setting,
			 char **ret_message);
/*
 * Notes the open section, with an empty name, or a key of it. Refuses what the file at hand gave
 * already, unless is_more.
 */
int policy_reader_add(struct policy_reader *reader, const char *name, const char *text,
		      bool is_more);
/*
 * Refuses a key that the section does not have; list has its keys, and closest is one, or NULL. A
 * key that is gone is refused with what to do instead.
 */
int policy_reader_refuse_key(struct policy_reader *reader, const char *name, const char *list,
			     const char *closest);
/* Checks the own name of a rule, class or profile, which stands behind the blank in `name`. */
int policy_reader_check_name(struct policy_reader *reader, const char *name);

/*
 * [rule NAME] and [class NAME]; name is "rule NAME" or "class NAME". A later file's section of the
 * same name continues the rule or class, key by key; its place in the order is that of the first.
 */
int policy_rules_open(struct policy_reader *reader, const char *name);
int policy_rules_assign(struct policy_reader *reader, const char *name, const char *text);

/* Opens [profile NAME], adding it if it is new; name is "profile NAME". */
int policy_profile_open(struct policy_reader *reader, const char *name);
/* Takes "when", or checks "SECTION.KEY". */
int policy_profile_assign(struct policy_reader *reader, const char *name, const char *text);

/*
 * Gives each rule the properties of its class that it does not have. Adds to *ret_message a line
 * for each class or condition that does not exist.
 */
int policy_rules_finish(struct policy_draft *draft, char **ret_message);
/* The rule with this name; NULL: there is none. */
struct policy_rule *policy_rules_find(struct policy *policy, const char *name);

/*
 * Parses size bytes of text, which need not end with a NUL, over draft. file is the name for
 * messages and must live as long as draft. On a fault *ret_message has a line for each fault, the
 * errno is that of the first, and the draft is unusable.
 */
int policy_parse(struct policy_draft *draft, const char *file, const char *text, size_t size,
		 char **ret_message);

/* file.c: the files of a policy, which may be anything: a directory, a pipe, as large as the disk.
 */

#define POLICY_FILE_MAX (1024 * 1024)

/*
 * Reads a whole regular file of at most POLICY_FILE_MAX bytes; /dev/null, or a link to it, is an
 * empty file. Never blocks on other files. The caller frees *ret_text, which ends with a NUL that
 * *ret_size does not count. Returns 0, or a negative errno and *ret_message.
 */
int policy_file_read(const char *path, char **ret_text, size_t *ret_size, char **ret_message);

/*
 * Refuses a file or directory that others than root and the user and group of this process may
 * write: its text is used with our rights. Returns 0, or -EPERM and *ret_message.
 */
int policy_file_check_writers(const char *path, const struct stat *status, char **ret_message);

#define POLICY_DROPINS_MAX 128 /* files in the directory */

/* Paths, sorted by the bytes of their names. All zero is an empty list. */
struct policy_dropins {
	char *paths[POLICY_DROPINS_MAX];
	size_t n;
};

/*
 * Adds the *.conf files of the directory whose names are not in the list; a missing directory has
 * none. Returns 0, or a negative errno and *ret_message. Call policy_dropins_free() in both cases.
 */
int policy_dropins_add(const char *directory, struct policy_dropins *dropins, char **ret_message);
void policy_dropins_free(struct policy_dropins *dropins);
