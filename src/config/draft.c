// SPDX-License-Identifier: GPL-2.0-only
#include "config/draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void policy_draft_init(struct policy_draft *draft)
{
	memset(draft, 0, sizeof(*draft));
	policy_init(&draft->policy);
}

const char *policy_shown(struct policy_reader *reader, const char *text)
{
	policy_text_escape(text, reader->shown);
	policy_error_hint(reader->shown, reader->hint);
	return reader->shown;
}

int policy_reader_open_once(struct policy_reader *reader, unsigned int *first_line,
			    const char *name)
{
	if (*first_line)
		return policy_refuse(reader, -EINVAL,
				     "found section [%s] again, expected it once in a file; the "
				     "first is at line %u",
				     name, *first_line);
	*first_line = reader->place.line;
	return 0;
}

int policy_reader_key_once(struct policy_reader *reader, unsigned int *first_line, const char *name)
{
	if (*first_line)
		return policy_refuse(reader, -EINVAL,
				     "[%s] %s: found the key again, expected it once; the first is "
				     "at line %u",
				     reader->section, name, *first_line);
	*first_line = reader->place.line;
	return 0;
}

int policy_reader_refuse_key(struct policy_reader *reader, const char *name, const char *list,
			     const char *closest)
{
	const char *instead = policy_gone_key(reader->section, name);

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
		      const struct policy_value *value, const char *text)
{
	struct policy_draft *draft = reader->draft;
	uint32_t domain_section = reader->domain_section;
	struct policy_limits *limits = &draft->domain_limits;
	void *base = &draft->policy;
	struct policy_limit *limit;

	if (key->section == POLICY_SECTION_DOMAIN && domain_section == POLICY_NO_DOMAIN_SECTION) {
		base = &draft->policy.domain;
	} else if (key->section == POLICY_SECTION_DOMAIN) {
		draft->policy.domain_sections[domain_section].given |= key->domain_bit;
		base = &draft->policy.domain_sections[domain_section].values;
		limits = &draft->section_limits[domain_section];
	}
	policy_key_store(key, base, value);
	if (!(key->domain_bit & (POLICY_DOMAIN_BIT(min) | POLICY_DOMAIN_BIT(max))))
		return;
	limit = key->domain_bit == POLICY_DOMAIN_BIT(min) ? &limits->min : &limits->max;
	limit->place = reader->place;
	limit->domain_section = domain_section;
	limit->order = ++draft->n_limits;
	snprintf(limit->text, sizeof(limit->text), "%s", text);
}

static bool is_crossed(const struct policy_domain *domain)
{
	return domain->min.kind == domain->max.kind && domain->min.kind != POLICY_FREQUENCY_NONE &&
	       domain->min.value > domain->max.value;
}

static int refuse_crossed(const struct policy_draft *draft, const struct policy_limit *min,
			  const struct policy_limit *max, char **ret_message)
{
	bool min_is_later = min->order > max->order;
	const struct policy_limit *later = min_is_later ? min : max;
	const struct policy_limit *earlier = min_is_later ? max : min;
	bool is_domain_section = later->domain_section != POLICY_NO_DOMAIN_SECTION;

	return policy_error_set(
		ret_message, -EINVAL, later->place,
		"[domain%s%s] %s: found '%s', expected at %s the %s of %s, given at %s:%u",
		is_domain_section ? " " : "",
		is_domain_section ? draft->policy.domain_sections[later->domain_section].name : "",
		min_is_later ? "min-frequency" : "max-frequency", later->text,
		min_is_later ? "most" : "least", min_is_later ? "max-frequency" : "min-frequency",
		earlier->text, earlier->place.file, earlier->place.line);
}

int policy_draft_check(const struct policy_draft *draft, char **ret_message)
{
	const struct policy_limits *all = &draft->domain_limits;
	struct policy_domain domain;
	char *message = NULL;
	int error = 0;

	if (is_crossed(&draft->policy.domain)) {
		error = refuse_crossed(draft, &all->min, &all->max, &message);
		policy_error_append(ret_message, message);
		return error;
	}
	for (uint32_t i = 0; i < draft->policy.n_domain_sections; i++) {
		const struct policy_domain_section *section = &draft->policy.domain_sections[i];
		const struct policy_limits *own = &draft->section_limits[i];

		policy_domain_for(&draft->policy, section->name, &domain);
		if (!is_crossed(&domain))
			continue;
		error = refuse_crossed(
			draft, section->given & POLICY_DOMAIN_BIT(min) ? &own->min : &all->min,
			section->given & POLICY_DOMAIN_BIT(max) ? &own->max : &all->max, &message);
		policy_error_append(ret_message, message);
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

int policy_origins_note(struct policy_origins *origins, const char *section, const char *key,
			const char *value, struct policy_place place, bool is_more)
{
	struct policy_origin *entries, entry = { .place = place };
	size_t kept = 0;

	entries = reallocarray(origins->entries, origins->n + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	origins->entries = entries;
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

const struct policy_origin *policy_origins_find(const struct policy_origins *origins,
						const char *section, const char *key)
{
	for (size_t i = 0; i < origins->n; i++)
		if (is_of(&origins->entries[i], section, key))
			return &origins->entries[i];
	return NULL;
}

void policy_origins_deinit(struct policy_origins *origins)
{
	for (size_t i = 0; i < origins->n; i++)
		free_entry(&origins->entries[i]);
	free(origins->entries);
	*origins = (struct policy_origins){ 0 };
}
