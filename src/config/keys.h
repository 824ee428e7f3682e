/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The table of sections and keys, and their values: text to value to field of the policy, and back.
 * A new key is a row of the table, a field in core/settings.h, and its text in
 * conf/wakegov.conf.5.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/units.h"
#include "core/rule.h"
#include "core/settings.h"

#define POLICY_WORDS_MAX 6

/* The only key that may be given several times in a section: config/section.c parses it. */
#define POLICY_OPP_POWER_KEY "opp-power"

enum policy_section {
	POLICY_SECTION_WAKEGOV,
	POLICY_SECTION_DOMAIN, /* [domain policyN] as well */
	POLICY_SECTION_UTILISATION,
	POLICY_SECTION_IO_BOOST,
	POLICY_SECTION_CAPS,
	POLICY_SECTION_QUERY,
	POLICY_SECTIONS,
};

/* A parsed value: the index of a word, or a quantity in the base unit. */
struct policy_value {
	enum {
		POLICY_VALUE_WORD,
		POLICY_VALUE_QUANTITY,
		POLICY_VALUE_SHARE, /* per cent, for keys that also take a frequency */
	} kind;
	uint64_t number;
};

struct policy_key {
	enum policy_section section;
	const char *name;
	const char *built_in; /* its value without a file, as written in one */

	/* Allowed words, ended by NULL; the field has their index. */
	const char *words[POLICY_WORDS_MAX + 1];

	/* Allowed quantities, NULL for none; least and most as written in a file. */
	const struct policy_units *units;
	const char *least, *most;

	/* The field: of struct policy_domain for the section [domain], else of struct policy. */
	size_t offset, size;
	enum {
		POLICY_FORM_NUMBER,    /* bool, enum, uint32_t or uint64_t, by its size */
		POLICY_FORM_GROUP,     /* a word is POLICY_GROUP_NONE */
		POLICY_FORM_FREQUENCY, /* struct policy_frequency */
	} form;
	uint32_t domain_bit; /* POLICY_DOMAIN_BIT() of the field; 0: it is of struct policy */
};

/* The built-in policy: what an empty file means. */
void policy_init(struct policy *policy);

/* All keys, in the order of the manual page. */
const struct policy_key *policy_keys_get(size_t *ret_n);

/* NULL if section has no such key. */
const struct policy_key *policy_keys_find(enum policy_section section, const char *name);

/* Whether key takes a frequency or a per cent of the highest. */
static inline bool policy_key_takes_share(const struct policy_key *key)
{
	return key->units == &policy_units_frequency &&
	       key->domain_bit != POLICY_DOMAIN_BIT(reference);
}

/* "wakegov" for POLICY_SECTION_WAKEGOV. */
extern const char *const policy_section_names[];

/* The number N of a kernel's name of a domain: policyN, without leading zeros. False: it is none.
 */
bool policy_domain_number(const char *name, uint32_t *ret);

/* base is the struct of the key's field. */
void policy_key_store(const struct policy_key *key, void *base, const struct policy_value *value);
/* Whether the field has a value that policy_key_store() could have given it. */
bool policy_key_is_valid(const struct policy_key *key, const void *base);

/* Returns -EINVAL for what key does not take, and -ERANGE for what is out of its range. */
int policy_value_parse(const struct policy_key *key, const char *text, struct policy_value *ret);

/*
 * "auto or a duration from 100us to 1s with its unit (ns, us, ms, s, min)", allocated; NULL when
 * memory is short.
 */
char *policy_value_describe(const struct policy_key *key);

/* Parses min-frequency or max-frequency into the section. Returns 0 or -EINVAL. */
int policy_limit_store(struct policy_domain_section *section, const char *name, const char *text);
/* Whether the minimum is above the maximum, where both are in Hz or both in per cent. */
bool policy_domain_is_crossed(const struct policy_domain *domain);

/*
 * A key of [rule NAME] or of [class NAME], which has some of them: what follows the name depends on
 * store, the kind of the key. A new key that gives something is a row of rule_keys.c, one by which
 * a rule matches a row of match.c with its bit; each has a field in core/settings.h.
 */
struct policy_rule_key {
	const char *name;
	const char *expected; /* for messages: what the value must be */
	/* Parses text into the field of the rule. Returns 0 or -EINVAL. */
	int (*store)(const struct policy_rule_key *key, void *field, const char *text);
	size_t offset, size; /* of the field in struct policy_rule */
	enum {
		POLICY_KEY_OF_RULE,
		POLICY_KEY_OF_BOTH,
		POLICY_KEY_OF_CLASS, /* parsed as a rule's property */
	} is_for;
	enum policy_match_key match; /* 0: it gives something */

	/* A text: whether it may be stored; of a list of patterns, whether one of them may. */
	bool (*is_good)(const char *text);
	bool is_list; /* words or patterns divided by blanks */

	/* A word, and what it stands for: a level, or its value. */
	struct {
		const char *word;
		struct policy_level level;
	} words[2];
	/* A level: a share, a capacity or a frequency … */
	bool is_level;
	/* … or a level of this kind, which is a time in these bounds. */
	int time_kind;
	uint32_t least_us, most_us;
};

#define POLICY_RULE_FIELD(_field)                       \
	.offset = offsetof(struct policy_rule, _field), \
	.size = sizeof(((struct policy_rule *)0)->_field)

/* Parses text into the rule. Returns 0 or -EINVAL. */
int policy_rule_key_store(const struct policy_rule_key *key, struct policy_rule *rule,
			  const char *text);

/* The i-th key, in the order of the manual page; NULL past the last. */
const struct policy_rule_key *policy_rule_key_at(size_t i);
/* The key's number; that after the last if there is no such key. */
size_t policy_rule_keys_number(const char *name);
/* NULL if there is no such key. */
const struct policy_rule_key *policy_rule_keys_find(const char *name);
/* The line where the rule sets that key; 0: it does not. */
uint32_t policy_rule_key_line(const struct policy_rule *rule, const char *name);

/* Parses a level for a single task, given by its key: no placement. Returns 0 or -EINVAL. */
int policy_level_store(struct policy_rule *rule, const char *name, const char *text);

#define POLICY_LEVEL_SIZE 24
/* The level as in a policy, a word or in the buffer; NULL: it is not given. */
const char *policy_level_format(enum rule_property property, const struct policy_level *level,
				char buffer[static POLICY_LEVEL_SIZE]);

/* match.c: those by which a rule matches, which come first. */
const struct policy_rule_key *policy_match_key_at(size_t i);

/* Kinds of keys that both tables have: a text, and one of the words as a bool. */
int policy_store_text(const struct policy_rule_key *key, void *field, const char *text);
int policy_store_flag(const struct policy_rule_key *key, void *field, const char *text);
/* What the text stands for; NULL: it is none of the key's words. */
const struct policy_level *policy_word_level(const struct policy_rule_key *key, const char *text);
