// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens a section by its header and assigns its keys; refuses what it does not know with the
 * closest name.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/draft.h"
#include "core/topology.h"
#include "shared/cleanup.h"
#include "shared/text.h"

/* Bounds of an opp-power. */
#define KHZ_LEAST 1000	     /* 1 MHz … */
#define KHZ_MOST  100000000  /* … to 100 GHz, as other frequencies of a policy */
#define UW_MOST	  1000000000 /* 1000W */

_Static_assert(POLICY_NO_DOMAIN_SECTION + 1 == 0, "[domain] is section 0 of opp_powers");

/* Another section is open now, without keys so far. */
static void begin(struct policy_reader *reader, const char *name)
{
	snprintf(reader->section, sizeof(reader->section), "%s", name);
	reader->rule = NULL;
	reader->class = NULL;
	reader->profile = NULL;
	reader->has_powers = false;
	reader->is_open = true;
}

/* own: name without "domain ". */
static int open_domain(struct policy_reader *reader, const char *name, const char *own)
{
	struct policy *policy = &reader->draft->policy;
	uint32_t number, i = 0;

	if (!policy_domain_number(own, &number))
		return policy_refuse(
			reader, -EINVAL,
			"unknown section [%s]; expected [domain policyN] with N from 0 "
			"to %d",
			policy_shown(reader, name), TOPOLOGY_CPUS_MAX - 1);

	while (i < policy->n_domain_sections && strcmp(policy->domain_sections[i].name, own) != 0)
		i++;
	if (i == POLICY_DOMAIN_SECTIONS_MAX)
		return policy_refuse(reader, -E2BIG,
				     "found one more [domain policyN], expected at most %d",
				     POLICY_DOMAIN_SECTIONS_MAX);
	if (i == policy->n_domain_sections) {
		policy->domain_sections[i] = (struct policy_domain_section){};
		strcpy(policy->domain_sections[i].name, own);
		policy->n_domain_sections++;
	}
	reader->domain_section = i;
	reader->current = POLICY_SECTION_DOMAIN;
	return 0;
}

/* Whether the name begins with this. */
static bool starts(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* A section of the table in config/keys.h. */
static int open_plain(struct policy_reader *reader, const char *name)
{
	const char *closest = NULL;
	char list[256] = "";

	for (int i = 0; i < POLICY_SECTIONS; i++) {
		if (!strcmp(name, policy_section_names[i])) {
			reader->current = i;
			reader->domain_section = POLICY_NO_DOMAIN_SECTION;
			return 0;
		}
		strcat(strcat(strcat(list, "["), policy_section_names[i]), "], ");
		suggest_closest(name, policy_section_names[i], &closest);
	}
	return policy_refuse(reader, -EINVAL,
			     "unknown section [%s]; expected one of %s[domain policyN], [class "
			     "NAME], [rule NAME], [profile NAME]%s%s%s",
			     policy_shown(reader, name), list, closest ? "; did you mean [" : "",
			     closest ?: "", closest ? "]?" : "");
}

int policy_section_open(struct policy_reader *reader, const char *header)
{
	const char *end = strchr(header, ']'), *rest = end ? end + 1 : "";
	_cleanup_free_ char *name = NULL;
	int r;

	/* inih ignores text behind the bracket; a key there would be lost. */
	rest += strspn(rest, " \t");
	if (!end || (*rest && *rest != ';'))
		return policy_refuse(reader, -EINVAL,
				     "found '%s', expected a [section] alone on its line",
				     policy_shown(reader, header));

	name = strndup(header + 1, end - header - 1);
	if (!name)
		return -ENOMEM;
	begin(reader, name);
	r = policy_reader_add(reader, "", "", false);
	if (r < 0)
		return r;
	if (starts(name, "domain "))
		return open_domain(reader, name, name + strlen("domain "));
	if (starts(name, "profile "))
		return policy_profile_open(reader, name);
	if (starts(name, "rule ") || starts(name, "class "))
		return policy_rules_open(reader, name);
	return open_plain(reader, name);
}

static int refuse_key(struct policy_reader *reader, const char *name)
{
	const struct policy_key *keys;
	const char *closest = NULL;
	char list[256] = "";
	size_t n;

	keys = policy_keys_get(&n);
	for (size_t i = 0; i < n; i++) {
		if (keys[i].section != reader->current)
			continue;
		strcat(strcat(list, list[0] ? ", " : ""), keys[i].name);
		suggest_closest(name, keys[i].name, &closest);
	}
	if (reader->current == POLICY_SECTION_DOMAIN) {
		strcat(list, ", " POLICY_OPP_POWER_KEY);
		suggest_closest(name, POLICY_OPP_POWER_KEY, &closest);
	}
	return policy_reader_refuse_key(reader, name, list, closest);
}

static int parse_power(const char *text, struct policy_opp_power *ret)
{
	size_t length = strcspn(text, " \t");
	_cleanup_free_ char *frequency = strndup(text, length);
	uint64_t khz, uw;

	if (!frequency)
		return -ENOMEM;
	text += length;
	text += strspn(text, " \t");
	if (policy_units_parse(&policy_units_frequency, frequency, &khz) < 0 ||
	    policy_units_parse(&policy_units_power, text, &uw) < 0 || khz < KHZ_LEAST ||
	    khz > KHZ_MOST || uw < 1 || uw > UW_MOST)
		return -EINVAL;
	ret->khz = khz;
	ret->uw = uw;
	return 0;
}

/* Parses one line of the table; the first in a file replaces what earlier files gave. */
static int assign_power(struct policy_reader *reader, const char *text)
{
	struct policy *policy = &reader->draft->policy;
	struct policy_opp_power opp = { .section = reader->domain_section + 1 };
	const struct policy_opp_power *before;
	int r = parse_power(text, &opp);
	uint32_t n = 0;

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return policy_refuse(
			reader, r,
			"[%s] " POLICY_OPP_POWER_KEY
			": found '%s', expected a frequency from 1MHz to 100GHz and what a "
			"busy CPU takes at it, from 1uW to 1000W, such as 1200MHz 340mW%s",
			reader->section, policy_shown(reader, text), reader->hint);

	if (!reader->has_powers) {
		for (uint32_t i = 0; i < policy->n_opp_powers; i++)
			if (policy->opp_powers[i].section != opp.section)
				policy->opp_powers[n++] = policy->opp_powers[i];
		policy->n_opp_powers = n;
	}
	before = reader->has_powers ? &policy->opp_powers[policy->n_opp_powers - 1] : NULL;
	if (before && opp.khz <= before->khz)
		return policy_refuse(
			reader, -EINVAL,
			"[%s] " POLICY_OPP_POWER_KEY
			": found '%s', expected a frequency above the %g MHz of the line "
			"before",
			reader->section, policy_shown(reader, text), before->khz / 1000.0);
	if (policy->n_opp_powers == POLICY_OPP_POWERS_MAX)
		return policy_refuse(reader, -E2BIG,
				     "[%s] " POLICY_OPP_POWER_KEY
				     ": found one more, expected at most %d in all",
				     reader->section, POLICY_OPP_POWERS_MAX);
	reader->has_powers = true;
	policy->opp_powers[policy->n_opp_powers++] = opp;
	return 0;
}

/* Parses a key of the table in config/keys.h. */
static int assign_key(struct policy_reader *reader, const char *name, const char *text)
{
	const struct policy_key *key = policy_keys_find(reader->current, name);
	_cleanup_free_ char *expected = NULL;
	struct policy_value value;

	if (!key)
		return refuse_key(reader, name);
	if (policy_value_parse(key, text, &value) == 0) {
		policy_draft_set(reader, key, &value);
		return 0;
	}
	expected = policy_value_describe(key);
	if (!expected)
		return -ENOMEM;
	return policy_refuse(reader, -EINVAL, "[%s] %s: found '%s', expected %s%s", reader->section,
			     key->name, policy_shown(reader, text), expected, reader->hint);
}

int policy_section_assign(struct policy_reader *reader, const char *name, const char *text)
{
	bool is_power = !strcmp(name, POLICY_OPP_POWER_KEY);
	int r = policy_reader_add(reader, name, text, is_power && reader->has_powers);

	if (r < 0)
		return r;
	if (reader->profile)
		return policy_profile_assign(reader, name, text);
	if (reader->rule || reader->class)
		return policy_rules_assign(reader, name, text);
	if (is_power && reader->current == POLICY_SECTION_DOMAIN)
		return assign_power(reader, text);
	return assign_key(reader, name, text);
}

int policy_section_apply(struct policy_draft *draft, const struct policy_origin *setting,
			 char **ret_message)
{
	struct policy_reader reader = {
		.draft = draft,
		.place = setting->place,
		.added_before = draft->origins.n_added,
	};
	const char *dot = strrchr(setting->key, '.');
	_cleanup_free_ char *header = NULL;
	int r;

	if (asprintf(&header, "[%.*s]", (int)(dot - setting->key), setting->key) < 0) {
		header = NULL;
		return -ENOMEM;
	}
	r = policy_section_open(&reader, header);
	if (r == 0)
		r = policy_section_assign(&reader, dot + 1, setting->value);
	*ret_message = reader.message;
	return r;
}
