// SPDX-License-Identifier: GPL-2.0-only
#include "config/value.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "shared/cleanup.h"

/* A share of a domain's highest frequency. */
#define SHARE_LEAST "1%"
#define SHARE_MOST  "100%"

/* A limit of the table, which is written as in a file. */
static uint64_t bound(const struct policy_units *units, const char *text)
{
	uint64_t number;
	int r = policy_units_parse(units, text, &number);

	assert(r == 0);
	return number;
}

static bool in_range(const struct policy_units *units, const char *least, const char *most,
		     uint64_t number)
{
	return number >= bound(units, least) && number <= bound(units, most);
}

static int parse_quantity(const struct policy_units *units, const char *least, const char *most,
			  const char *text, uint64_t *ret)
{
	uint64_t number;
	int r;

	r = policy_units_parse(units, text, &number);
	if (r < 0)
		return r;
	if (!in_range(units, least, most, number))
		return -ERANGE;
	*ret = number;
	return 0;
}

static bool find_word(const struct policy_key *key, const char *text, uint64_t *ret)
{
	for (int i = 0; key->words[i]; i++)
		if (!strcmp(key->words[i], text)) {
			*ret = i;
			return true;
		}
	return false;
}

int policy_value_parse(const struct policy_key *key, const char *text, struct policy_value *ret)
{
	struct policy_value value = { .kind = POLICY_VALUE_WORD };
	int r;

	if (find_word(key, text, &value.number)) {
		*ret = value;
		return 0;
	}
	if (!key->units)
		return -EINVAL;

	if (policy_key_takes_share(key) && strchr(text, '%')) {
		value.kind = POLICY_VALUE_SHARE;
		r = parse_quantity(&policy_units_share, SHARE_LEAST, SHARE_MOST, text,
				   &value.number);
	} else {
		value.kind = POLICY_VALUE_QUANTITY;
		r = parse_quantity(key->units, key->least, key->most, text, &value.number);
	}
	if (r < 0)
		return r;
	*ret = value;
	return 0;
}

bool policy_value_allowed(const struct policy_key *key, const struct policy_value *value)
{
	if (value->kind == POLICY_VALUE_SHARE)
		return policy_key_takes_share(key) &&
		       in_range(&policy_units_share, SHARE_LEAST, SHARE_MOST, value->number);
	if (value->kind == POLICY_VALUE_QUANTITY && key->units &&
	    in_range(key->units, key->least, key->most, value->number))
		return true;
	/* A field of ns stores "auto" as 0; "none" is a kind of its own. */
	if (value->kind == POLICY_VALUE_QUANTITY && policy_key_takes_share(key))
		return false;
	return value->number < POLICY_WORDS_MAX && key->words[value->number];
}

static void describe_words(const struct policy_key *key, FILE *out)
{
	for (int i = 0; key->words[i]; i++) {
		bool last = !key->words[i + 1] && !key->units;

		fprintf(out, "%s%s", i == 0 ? "" : last ? " or " : ", ", key->words[i]);
	}
	if (key->words[0] && key->units)
		fputs(policy_key_takes_share(key) ? ", " : " or ", out);
}

static void describe_quantity(const struct policy_key *key, FILE *out)
{
	const struct policy_units *units = key->units;

	fprintf(out, "%s from %s to %s", units->noun, key->least, key->most);
	if (units->list[0].name[0]) {
		fprintf(out, " with its unit (%s", units->list[0].name);
		for (int i = 1; units->list[i].name; i++)
			fprintf(out, ", %s", units->list[i].name);
		fputc(')', out);
	}
	if (policy_key_takes_share(key))
		fprintf(out, " or %s from %s to %s", policy_units_share.noun, SHARE_LEAST,
			SHARE_MOST);
}

char *policy_value_describe(const struct policy_key *key)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out;

	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	describe_words(key, out);
	if (key->units)
		describe_quantity(key, out);
	if (fclose(out) != 0)
		return NULL;
	return take_ptr(text);
}

static char *format_quantity(const struct policy_units *units, uint64_t number)
{
	char *text = NULL;
	int unit = 0;

	for (int i = 1; number && units->list[i].name; i++)
		if (number % units->list[i].scale == 0)
			unit = i;
	if (asprintf(&text, "%" PRIu64 "%s", number / units->list[unit].scale,
		     units->list[unit].name) < 0)
		return NULL;
	return text;
}

char *policy_value_format(const struct policy_key *key, const struct policy_value *value)
{
	if (value->kind == POLICY_VALUE_SHARE)
		return format_quantity(&policy_units_share, value->number);
	/* Such a number is out of range if it stands for a word. */
	if (value->kind == POLICY_VALUE_QUANTITY && key->units &&
	    in_range(key->units, key->least, key->most, value->number))
		return format_quantity(key->units, value->number);
	return strdup(key->words[value->number]);
}
