// SPDX-License-Identifier: GPL-2.0-only
#include "sim/keys.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

int sim_refuse(char **ret_message, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(ret_message, format, args) < 0)
		*ret_message = NULL;
	va_end(args);
	return -EINVAL;
}

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
	char units[64];

	name_units(key->units, units, sizeof(units));
	return sim_refuse(ret_message, "%s: found '%s', expected %s from %s to %s%s%s%s", key->name,
			  text, key->units->noun, key->least, key->most,
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
