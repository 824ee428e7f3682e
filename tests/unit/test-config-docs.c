// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the installed file and the manual page say, held against the table and the defaults.
 * Called with their paths: test-policy-docs wakegov.conf wakegov.conf.5
 */
#include <stdio.h>

#include "test-config.h"

#include "config/draft.h"
#include "config/keys.h"

static const char *conf_path, *manual_path;

/* The caller frees it. */
static char *read_document(const char *path)
{
	char *text = NULL, *message = NULL;
	size_t size;

	if (policy_file_read(path, &text, &size, &message) < 0)
		fail_msg("%s", message);
	return text;
}

static const char *field(const struct policy *policy, const struct policy_key *key)
{
	return (key->domain_bit ? (const char *)&policy->domain : (const char *)policy) +
	       key->offset;
}

static void assert_policy_equal(const struct policy *a, const struct policy *b)
{
	const struct policy_key *keys;
	size_t n;

	keys = policy_keys_get(&n);
	for (size_t i = 0; i < n; i++)
		if (memcmp(field(a, &keys[i]), field(b, &keys[i]), keys[i].size) != 0)
			fail_msg("%s has another value", keys[i].name);
	assert_int_equal(a->n_domain_sections, b->n_domain_sections);
}

/* "#key = value" becomes "key = value"; prose has a blank behind the #. */
static void uncomment(char *text)
{
	for (char *line = text; line; line = strchr(line + 1, '\n')) {
		char *hash = line == text ? line : line + 1;

		if (hash[0] == '#' && hash[1] >= 'a' && hash[1] <= 'z')
			hash[0] = ' ';
	}
}

TEST(test_conf_as_installed)
{
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };
	struct policy defaults;
	char *text = read_document(conf_path), *message;

	test_draft_init(&draft);
	policy_init(&defaults);
	message = test_policy_parse(&draft, "wakegov.conf", text, strlen(text));
	assert_null(message);
	assert_policy_equal(&draft.policy, &defaults);
	free(text);
}

/* It starts from nonsense, so that a key which the file does not give is seen to be missing. */
TEST(test_conf_gives_every_default)
{
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };
	struct policy defaults;
	char *text = read_document(conf_path), *message;

	policy_init(&defaults);
	memset(&draft.policy, 0x5a, sizeof(draft.policy));
	draft.policy.n_domain_sections = 0;
	uncomment(text);
	message = test_policy_parse(&draft, "wakegov.conf", text, strlen(text));
	if (message)
		fail_msg("%s", message);
	assert_policy_equal(&draft.policy, &defaults);
	free(text);
}

/* The part of the manual between the heading of a section and the next heading. */
static char *cut_section(const char *manual, enum policy_section section)
{
	char heading[64];
	const char *start, *end;

	snprintf(heading, sizeof(heading), "\n.Sh [%s]", policy_section_names[section]);
	start = strstr(manual, heading);
	if (!start)
		fail_msg("no section '%s'", heading + 1);
	end = strstr(start + 1, "\n.Sh ");
	return end ? strndup(start, end - start) : strdup(start);
}

static void expect_contains(const char *text, const char *what, const char *key)
{
	if (what && !strstr(text, what))
		fail_msg("%s: '%s' is not in the text", key, what);
}

/* Each has an item of its own in its section, with its range and its words. */
static void expect_documented(const char *manual, const struct policy_key *key)
{
	char item[64], *section = cut_section(manual, key->section), *start, *end;

	snprintf(item, sizeof(item), "\n.It Ic %s No = ", key->name);
	start = strstr(section, item);
	if (!start)
		fail_msg("no item '%s'", item + 1);
	end = strstr(start + 1, "\n.It ");
	if (end)
		*end = '\0';
	expect_contains(start, "Default:", key->name);
	for (int i = 0; key->words[i]; i++)
		expect_contains(start, key->words[i], key->name);
	/* max-frequency says "as min-frequency". */
	if (strcmp(key->name, "max-frequency")) {
		expect_contains(start, key->least, key->name);
		expect_contains(start, key->most, key->name);
	}
	free(section);
}

TEST(test_manual_has_every_key)
{
	char *manual = read_document(manual_path);
	const struct policy_key *keys;
	size_t n;

	keys = policy_keys_get(&n);
	for (size_t i = 0; i < n; i++)
		expect_documented(manual, &keys[i]);
	free(manual);
}

TEST(test_manual_has_every_key_of_rules)
{
	char *manual = read_document(manual_path), item[64];
	const struct policy_rule_key *key;

	for (size_t i = 0; (key = policy_rule_key_at(i)); i++) {
		snprintf(item, sizeof(item), "\n.It Ic %s No = ", key->name);
		expect_contains(manual, item, key->name);
	}
	free(manual);
}

/* And it has no key that is not in the tables. */
TEST(test_manual_has_no_other_key)
{
	char *manual = read_document(manual_path);
	size_t n, n_items = 0, n_rule_keys = 0;

	for (const char *item = manual; (item = strstr(item, "\n.It Ic ")); item++)
		n_items++;
	policy_keys_get(&n);
	while (policy_rule_key_at(n_rule_keys))
		n_rule_keys++;
	assert_int_equal(n_items, n + n_rule_keys + 2 /* opp-power; when, of a profile */);
	free(manual);
}

/* The numbers of the manual that stand in code and not in the table. */
TEST(test_manual_has_the_limits)
{
	char *manual = read_document(manual_path), limit[64];

	snprintf(limit, sizeof(limit), "\n%d bytes", POLICY_LINE_MAX);
	expect_contains(manual, limit, "longest line");
	snprintf(limit, sizeof(limit), "from 0 to %d", TOPOLOGY_CPUS_MAX - 1);
	expect_contains(manual, limit, "domain number");
	snprintf(limit, sizeof(limit), "There may be %d such", POLICY_DOMAIN_SECTIONS_MAX);
	expect_contains(manual, limit, "number of sections");
	snprintf(limit, sizeof(limit), "There may be %d such lines", POLICY_OPP_POWERS_MAX);
	expect_contains(manual, limit, "number of powers");
	snprintf(limit, sizeof(limit), "There may be %d rules", POLICY_RULES_MAX);
	expect_contains(manual, limit, "number of rules");
	snprintf(limit, sizeof(limit), "There may be %d.", POLICY_CLASSES_MAX);
	expect_contains(manual, limit, "number of classes");
	snprintf(limit, sizeof(limit), "has 1 to %d letters", POLICY_NAME_SIZE - 1);
	expect_contains(manual, limit, "length of names");
	free(manual);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: test-policy-docs CONF MANUAL\n");
		return 2;
	}
	conf_path = argv[1];
	manual_path = argv[2];
	return tests_run(NULL, NULL);
}
