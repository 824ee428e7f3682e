/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The table of sections and keys. Parsing, ranges, error messages and the tests of the manual page
 * use it. A new key is a line here, a field in core/settings.h, a default in policy_init(), and its
 * text in conf/wakegov.conf and conf/wakegov.conf.5.
 */

#include <stddef.h>
#include <stdint.h>

#include "config/units.h"
#include "core/settings.h"

#define POLICY_WORDS_MAX 6
#define POLICY_KEYS_MAX	 40

/* The only key that may be given several times in a section: config/opp_power.h parses it. */
#define POLICY_OPP_POWER_KEY "opp-power"

enum policy_section {
	POLICY_SECTION_WAKEGOV,
	POLICY_SECTION_DOMAIN, /* [domain policyN] as well */
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

	/* Allowed words, ended by NULL; the field has their index. */
	const char *words[POLICY_WORDS_MAX + 1];

	/* Allowed quantities, NULL for none; least and most as written in a file. */
	const struct policy_units *units;
	const char *least, *most;

	/* Stores into struct policy_domain for the section [domain], else into struct policy. */
	size_t offset;
	void (*store)(void *field, const struct policy_value *value);
	/* The inverse, but a word that the field holds as a number is returned as a quantity. */
	void (*load)(const void *field, struct policy_value *ret);
	enum policy_domain_field domain_field;
};

/* All keys, in the order of the manual page; fewer than POLICY_KEYS_MAX. */
const struct policy_key *policy_keys_get(size_t *ret_n);

/* NULL if section has no such key. */
const struct policy_key *policy_keys_find(enum policy_section section, const char *name);

/* Whether key takes a frequency or a per cent of the highest. */
static inline bool policy_key_takes_share(const struct policy_key *key)
{
	return key->units == &policy_units_frequency &&
	       key->domain_field != POLICY_DOMAIN_REFERENCE;
}

/* "wakegov" for POLICY_SECTION_WAKEGOV. */
const char *policy_section_name(enum policy_section section);
