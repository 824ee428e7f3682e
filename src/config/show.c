// SPDX-License-Identifier: GPL-2.0-only
/* Writes a policy as its file would be written, with the origin of each value. */
#include <string.h>

#include "config/draft.h"
#include "config/load.h"
#include "core/rule.h"
#include "shared/cleanup.h"

struct show {
	FILE *out;
	const struct policy_origins *origins;
	bool is_begun; /* the section's header is printed */
};

static void print_key(struct show *show, const char *section, const char *key, const char *value,
		      const struct policy_place *place)
{
	int width;

	if (!show->is_begun)
		fprintf(show->out, "\n[%s]\n", section);
	show->is_begun = true;
	width = fprintf(show->out, "%s = %s", key, value);
	fprintf(show->out, "%*s ; ", width < 40 ? 40 - width : 0, "");
	if (place && strcmp(place->file, POLICY_BUILT_IN_FILE) != 0)
		fprintf(show->out, "%s:%u\n", place->file, place->line);
	else
		fputs("built in\n", show->out);
}

/* Prints what files say of the section, or of one of its keys. */
static void print_origins(struct show *show, const char *section, const char *key)
{
	for (size_t i = 0; i < show->origins->n; i++) {
		const struct policy_origin *origin = &show->origins->entries[i];

		if (!strcmp(origin->section, section) && origin->key[0] &&
		    (!key || !strcmp(origin->key, key)))
			print_key(show, section, origin->key, origin->value, &origin->place);
	}
}

/* Prints a section of which every key has a value. */
static void print_plain_section(struct show *show, enum policy_section section)
{
	const char *name = policy_section_names[section];
	const struct policy_key *keys;
	size_t n;

	show->is_begun = false;
	keys = policy_keys_get(&n);
	for (size_t i = 0; i < n; i++) {
		if (keys[i].section != section)
			continue;
		if (policy_origins_find(show->origins, name, keys[i].name)) {
			print_origins(show, name, keys[i].name);
			continue;
		}
		print_key(show, name, keys[i].name, keys[i].built_in, NULL);
	}
	print_origins(show, name, POLICY_OPP_POWER_KEY);
}

static void print_level(struct show *show, const char *section, const char *key,
			const struct policy_level *level)
{
	char text[16];

	snprintf(text, sizeof(text), "%u%%", level->value);
	if (level->kind == POLICY_LEVEL_PERCENT &&
	    !policy_origins_find(show->origins, section, key))
		print_key(show, section, key, text, NULL);
}

/* Prints a built-in class, and what files change of it. */
static void print_class(struct show *show, const struct policy_class *class)
{
	const struct policy_properties *properties = &class->properties;
	char section[sizeof("class ") + POLICY_NAME_SIZE];

	show->is_begun = false;
	snprintf(section, sizeof(section), "class %s", class->name);
	print_level(show, section, "cap", &properties->cap);
	/* A response is a floor too. */
	if (!policy_origins_find(show->origins, section, "response"))
		print_level(show, section, "floor", &properties->floor);
	if (properties->not_inherited && !policy_origins_find(show->origins, section, "inherit"))
		print_key(show, section, "inherit", "no", NULL);
	print_origins(show, section, NULL);
}

/* Prints sections of one kind but built-in classes, in the order in which files began them. */
static void print_sections(struct show *show, const struct policy *defaults, const char *kind)
{
	const struct policy_origin *entries = show->origins->entries;

	for (size_t i = 0; i < show->origins->n; i++) {
		const char *section = entries[i].section;
		size_t j = 0;

		while (strcmp(entries[j].section, section) != 0)
			j++;
		if (j < i || strncmp(section, kind, strlen(kind)) != 0 ||
		    (!strcmp(kind, "class ") &&
		     rule_class_named(defaults, section + strlen(kind)) >= 0))
			continue;
		show->is_begun = false;
		print_origins(show, section, NULL);
	}
}

int policy_show(const char *path, bool may_be_missing, const char *dropin_dir, FILE *out,
		char **ret_message)
{
	struct show show = { .out = out };
	struct policy_files *files;
	struct policy defaults;
	int r = policy_files_read(path, may_be_missing, dropin_dir, &files, ret_message);

	if (r == 0) {
		policy_init(&defaults);
		show.origins = policy_files_origins(files);
		fprintf(out, "# %s%s%s%s\n", path, dropin_dir ? ", then " : "", dropin_dir ?: "",
			dropin_dir ? "/*.conf" : "");
		for (int section = 0; section < POLICY_SECTIONS; section++) {
			print_plain_section(&show, section);
			if (section == POLICY_SECTION_DOMAIN)
				print_sections(&show, &defaults, "domain ");
		}
		for (uint32_t i = 0; i < defaults.n_classes; i++)
			print_class(&show, &defaults.classes[i]);
		print_sections(&show, &defaults, "class ");
		print_sections(&show, &defaults, "rule ");
		print_sections(&show, &defaults, "profile ");
		policy_files_free(files);
	}
	return r;
}
