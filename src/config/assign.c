// SPDX-License-Identifier: GPL-2.0-only
#include "config/assign.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/rules.h"
#include "config/text.h"
#include "config/value.h"
#include "shared/cleanup.h"
#include "shared/suggest.h"

/* "io-boost" or "domain policy4". */
struct section_name {
	char text[sizeof("domain ") + DOMAIN_NAME_SIZE];
};

static struct section_name name_open_section(const struct policy_draft *draft,
					     const struct policy_sections *sections)
{
	bool is_domain_section = sections->domain_section != POLICY_NO_DOMAIN_SECTION;
	struct section_name name;

	snprintf(name.text, sizeof(name.text), "%s%s%s", policy_section_name(sections->current),
		 is_domain_section ? " " : "",
		 is_domain_section ? draft->policy.domain_sections[sections->domain_section].name
				   : "");
	return name;
}

/* Keys of versions before that meant something which is no more. */
static const char *why_gone(enum policy_section section, const char *name)
{
	if (section != POLICY_SECTION_IO_BOOST)
		return NULL;
	if (!strcmp(name, "check-window") || !strcmp(name, "back-off-min") ||
	    !strcmp(name, "back-off-max"))
		return "whether a boost pays is tried in windows of its own (wakegov(7)); slack "
		       "says which gain is worth one";
	return NULL;
}

static int refuse_unknown(enum policy_section section, const char *section_name,
			  struct policy_place place, const char *name, char **ret_message)
{
	const char *closest = NULL, *gone = why_gone(section, name);
	const struct policy_key *keys;
	char list[256] = "";
	size_t n;

	if (gone)
		return policy_error_set(ret_message, -EINVAL, place, "[%s] %s is gone: %s",
					section_name, name, gone);
	keys = policy_keys_get(&n);
	for (size_t i = 0; i < n; i++) {
		if (keys[i].section != section)
			continue;
		strcat(strcat(list, list[0] ? ", " : ""), keys[i].name);
		suggest_closest(name, keys[i].name, &closest);
	}
	return policy_error_set_unknown_key(ret_message, place, section_name, name, list, closest);
}

static int refuse_value(const char *section_name, const struct policy_key *key,
			struct policy_place place, const char *text, char **ret_message)
{
	_cleanup_free_ char *expected = policy_value_describe(key);
	char shown[POLICY_TEXT_SIZE];

	if (!expected)
		return -ENOMEM;
	policy_text_escape(text, shown);
	return policy_error_set(ret_message, -EINVAL, place, "[%s] %s: found '%s', expected %s",
				section_name, key->name, shown, expected);
}

int policy_assign(struct policy_draft *draft, struct policy_sections *sections,
		  struct policy_place place, const char *name, const char *text, char **ret_message)
{
	struct section_name section;
	const struct policy_key *key;
	struct policy_value value;
	unsigned int *first_line;
	size_t n;

	if (sections->rule || sections->class)
		return policy_rules_assign(sections, place, name, text, ret_message);
	section = name_open_section(draft, sections);
	key = policy_keys_find(sections->current, name);
	if (!key)
		return refuse_unknown(sections->current, section.text, place, name, ret_message);

	first_line = &sections->key_lines[key - policy_keys_get(&n)];
	if (*first_line)
		return policy_error_set(ret_message, -EINVAL, place,
					"[%s] %s: found the key again, expected it once; the first "
					"is at line %u",
					section.text, name, *first_line);
	*first_line = place.line;

	if (policy_value_parse(key, text, &value) < 0)
		return refuse_value(section.text, key, place, text, ret_message);
	policy_draft_set(draft, key, sections->domain_section, &value, text, place);
	return 0;
}
