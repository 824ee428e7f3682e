// SPDX-License-Identifier: GPL-2.0-only
#include "sim/keys.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "config/error.h"
#include "shared/cleanup.h"
#include "sim/message.h"

const struct policy_units sim_units_voltage = {
	.noun = "a voltage",
	.list = { { "mV", 1 }, { "V", 1000 } },
};

const struct policy_units sim_units_capacitance = {
	.noun = "a capacitance",
	.list = { { "pF", 1 }, { "nF", 1000 } },
};

const struct policy_units sim_units_permille = {
	.noun = "a share",
	.list = { { "%", 10 } },
};

const struct sim_key *sim_key_find(const struct sim_key *keys, size_t n, int section,
				   const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (keys[i].section == section && !strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static uint64_t bound(const struct policy_units *units, const char *text)
{
	uint64_t number;
	int r = policy_units_parse(units, text, &number);

	assert(r == 0);
	return number;
}

/* ", mV" for all but the first, and nothing where there is none. */
static void name_units(const struct policy_units *units, char *text, size_t size)
{
	text[0] = '\0';
	for (int i = 0; units->list[i].name; i++) {
		size_t length = strlen(text);

		snprintf(text + length, size - length, "%s%s", i ? ", " : "", units->list[i].name);
	}
}

static int refuse(const struct sim_key *key, const char *text, char **ret_message)
{
	char shown[POLICY_TEXT_SIZE], units[64];

	name_units(key->units, units, sizeof(units));
	policy_text_escape(text, shown);
	return sim_refuse(ret_message, "%s: found '%s', expected %s from %s to %s%s%s%s", key->name,
			  shown, key->units->noun, key->least, key->most,
			  units[0] ? " with its unit (" : "", units, units[0] ? ")" : "");
}

int sim_key_store(const struct sim_key *key, void *base, const char *text, char **ret_message)
{
	void *field = (char *)base + key->offset;
	uint64_t number;

	if (policy_units_parse(key->units, text, &number) < 0 ||
	    number < bound(key->units, key->least) || number > bound(key->units, key->most))
		return refuse(key, text, ret_message);
	if (key->size == sizeof(uint32_t))
		*(uint32_t *)field = number;
	else
		*(uint64_t *)field = number;
	return 0;
}

char *sim_key_names(const struct sim_key *keys, size_t n, int section)
{
	_cleanup_free_ char *names = NULL;
	size_t size;
	FILE *out = open_memstream(&names, &size);
	bool first = true;

	if (!out)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (keys[i].section != section)
			continue;
		fprintf(out, "%s%s", first ? "" : ", ", keys[i].name);
		first = false;
	}
	if (fclose(out) != 0)
		return NULL;
	return take_ptr(names);
}
