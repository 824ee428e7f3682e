// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy while its files are read: where each value came from, which keys were seen, and the
 * checks that need the whole section.
 */
#include "config/draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/cleanup.h"

void policy_draft_init(struct policy_draft *draft)
{
	memset(draft, 0, sizeof(*draft));
	policy_init(&draft->policy);
}

void policy_draft_deinit(struct policy_draft *draft)
{
	policy_origins_deinit(&draft->origins);
}

const char *policy_shown(struct policy_reader *reader, const char *text)
{
	policy_text_escape(text, reader->shown);
	policy_error_hint(reader->shown, reader->hint);
	return reader->shown;
}

#define TRIED_BY_ITSELF                                                                            \
	"whether a boost pays is tried in windows of its own (wakegov-algorithms(7)); slack says " \
	"which gain is worth one"

/*
 * Keys that a policy could have once. A policy that still has one is refused with the sentence that
 * says what to do instead; a row is all that is left of a key. A rule's key may also be a class'
 * one: section is the header's first word.
 */
static const struct {
	const char *section, *name, *instead;
} gone[] = {
	{ "io-boost", "check-window", TRIED_BY_ITSELF },
	{ "io-boost", "back-off-min", TRIED_BY_ITSELF },
	{ "io-boost", "back-off-max", TRIED_BY_ITSELF },
	{ "io-boost", "idle-latency",
	  "give it to the readers by a rule or a class: idle-latency there" },
};

/* The end of a sentence; NULL where such a section ("io-boost", "rule NAME") never had the key. */
static const char *find_gone_key(const char *section, const char *name)
{
	size_t length = strcspn(section, " ");

	for (size_t i = 0; i < ARRAY_SIZE(gone); i++)
		if (strlen(gone[i].section) == length &&
		    !strncmp(gone[i].section, section, length) && !strcmp(gone[i].name, name))
			return gone[i].instead;
	return NULL;
}

int policy_reader_refuse_key(struct policy_reader *reader, const char *name, const char *list,
			     const char *closest)
{
	const char *instead = find_gone_key(reader->section, name);

	if (instead)
		return policy_refuse(reader, -EINVAL, "[%s] %s is gone: %s", reader->section, name,
				     instead);
	return policy_refuse(reader, -EINVAL, "unknown key '%s' in [%s]; expected one of %s%s%s%s",
			     policy_shown(reader, name), reader->section, list,
			     closest ? "; did you mean '" : "", closest ?: "", closest ? "'?" : "");
}

int policy_reader_check_name(struct policy_reader *reader, const char *name)
{
	/* These characters show well in tables and messages, and need no quotes in a shell. */
	const char *own = strchr(name, ' ') + 1;
	size_t length = strspn(own, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_.@:");

	if (length > 0 && length < POLICY_NAME_SIZE && !own[length])
		return 0;
	return policy_refuse(reader, -EINVAL,
			     "unknown section [%s]; expected a name of 1 to %d letters, digits and "
			     "-_.@: after the blank",
			     policy_shown(reader, name), POLICY_NAME_SIZE - 1);
}

void policy_draft_set(struct policy_reader *reader, const struct policy_key *key,
		      const struct policy_value *value)
{
	struct policy *policy = &reader->draft->policy;
	struct policy_domain_section *section;
	void *base = policy;

	if (key->section == POLICY_SECTION_DOMAIN) {
		base = &policy->domain;
		if (reader->domain_section != POLICY_NO_DOMAIN_SECTION) {
			section = &policy->domain_sections[reader->domain_section];
			section->given |= key->domain_bit;
			base = &section->values;
		}
	}
	policy_key_store(key, base, value);
}

bool policy_domain_is_crossed(const struct policy_domain *domain)
{
	return domain->min.kind == domain->max.kind && domain->min.kind != POLICY_FREQUENCY_NONE &&
	       domain->min.value > domain->max.value;
}

static int refuse_crossed(const struct policy_draft *draft, const char *min_section,
			  const char *max_section, char **ret_message)
{
	const struct policy_origin *min = policy_origins_find(&draft->origins, min_section,
							      "min-frequency");
	const struct policy_origin *max = policy_origins_find(&draft->origins, max_section,
							      "max-frequency");
	bool min_is_later = min->order > max->order;
	const struct policy_origin *later = min_is_later ? min : max;
	const struct policy_origin *earlier = min_is_later ? max : min;
	char *message = NULL;

	policy_error_set(&message, -EINVAL, later->place,
			 "[%s] %s: found '%s', expected at %s the %s of %s, given at %s:%u",
			 later->section, later->key, later->value, min_is_later ? "most" : "least",
			 earlier->key, earlier->value, earlier->place.file, earlier->place.line);
	policy_error_append(ret_message, message);
	return -EINVAL;
}

int policy_draft_check(const struct policy_draft *draft, char **ret_message)
{
	char name[sizeof("domain ") + DOMAIN_NAME_SIZE];
	struct policy_domain domain;
	int error = 0;

	if (policy_domain_is_crossed(&draft->policy.domain))
		return refuse_crossed(draft, "domain", "domain", ret_message);
	for (uint32_t i = 0; i < draft->policy.n_domain_sections; i++) {
		const struct policy_domain_section *section = &draft->policy.domain_sections[i];

		policy_domain_for(&draft->policy, section->name, &domain);
		if (!policy_domain_is_crossed(&domain))
			continue;
		snprintf(name, sizeof(name), "domain %s", section->name);
		error = refuse_crossed(
			draft, section->given & POLICY_DOMAIN_BIT(min) ? name : "domain",
			section->given & POLICY_DOMAIN_BIT(max) ? name : "domain", ret_message);
	}
	return error;
}

static bool is_of(const struct policy_origin *origin, const char *section, const char *key)
{
	return !strcmp(origin->section, section) && !strcmp(origin->key, key);
}

static void free_entry(struct policy_origin *entry)
{
	free(entry->section);
	free(entry->key);
	free(entry->value);
}

/*
 * Replaces the section's value of the key, unless it is a further line of a key that may be given
 * several times (is_more). Returns 0 or -ENOMEM.
 */
static int add_origin(struct policy_origins *origins, const char *section, const char *key,
		      const char *value, struct policy_place place, bool is_more)
{
	struct policy_origin *entries, entry = { .place = place };
	size_t kept = 0;

	entries = reallocarray(origins->entries, origins->n + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	origins->entries = entries;
	entry.order = ++origins->n_added;
	entry.section = strdup(section);
	entry.key = strdup(key);
	entry.value = strdup(value);
	if (!entry.section || !entry.key || !entry.value) {
		free_entry(&entry);
		return -ENOMEM;
	}
	/* A value that replaces others has the place of the first. */
	for (size_t i = 0; i < origins->n; i++) {
		if (is_more || !is_of(&entries[i], section, key)) {
			entries[kept++] = entries[i];
			continue;
		}
		free_entry(&entries[i]);
		if (entry.section)
			entries[kept++] = entry;
		entry = (struct policy_origin){ 0 };
	}
	if (entry.section)
		entries[kept++] = entry;
	origins->n = kept;
	return 0;
}

static const struct policy_origin *find_own(const struct policy_origins *origins,
					    const char *section, const char *key)
{
	for (size_t i = 0; i < origins->n; i++)
		if (is_of(&origins->entries[i], section, key))
			return &origins->entries[i];
	return NULL;
}

const struct policy_origin *policy_origins_find(const struct policy_origins *origins,
						const char *section, const char *key)
{
	const struct policy_origin *found = NULL;

	for (; origins && !found; origins = origins->below)
		found = find_own(origins, section, key);
	return found;
}

void policy_origins_deinit(struct policy_origins *origins)
{
	for (size_t i = 0; i < origins->n; i++)
		free_entry(&origins->entries[i]);
	free(origins->entries);
	*origins = (struct policy_origins){ 0 };
}

int policy_reader_add(struct policy_reader *reader, const char *name, const char *text,
		      bool is_more)
{
	struct policy_origins *origins = &reader->draft->origins;
	const struct policy_origin *first = find_own(origins, reader->section, name);
	bool is_again = first && first->order > reader->added_before;

	if (!is_again || is_more)
		return add_origin(origins, reader->section, name, text, reader->place, is_more);
	if (name[0])
		return policy_refuse(reader, -EINVAL,
				     "[%s] %s: found the key again, expected it once; the first is "
				     "at line %u",
				     reader->section, name, first->place.line);
	return policy_refuse(reader, -EINVAL,
			     "found section [%s] again, expected it once in a file; the first is "
			     "at line %u",
			     reader->section, first->place.line);
}
