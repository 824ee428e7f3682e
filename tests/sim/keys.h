/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Quantities that platform files and workload SPECs give by name, driven by tables. */

#include <stddef.h>
#include <stdint.h>

#include "config/units.h"

struct sim_key {
	int section; /* of the caller */
	const char *name;
	const struct policy_units *units; /* NULL: the caller reads the value itself */
	const char *least, *most;	  /* as written */
	size_t offset;			  /* of a uint32_t or uint64_t */
	size_t size;
};

#define SIM_KEY(_section, _name, _units, _least, _most, _type, _field)                        \
	{                                                                                     \
		.section = (_section), .name = (_name), .units = (_units), .least = (_least), \
		.most = (_most), .offset = offsetof(_type, _field),                           \
		.size = sizeof(((_type *)0)->_field),                                         \
	}

extern const struct policy_units sim_units_voltage;	/* base: mV */
extern const struct policy_units sim_units_capacitance; /* base: pF */
extern const struct policy_units sim_units_permille;	/* "47.4%"; base: 0.1 % */

/* NULL if section has no such key. */
const struct sim_key *sim_key_find(const struct sim_key *keys, size_t n, int section,
				   const char *name);

/*
 * Stores text as the key's field of base. Returns 0, or -EINVAL and *ret_message, "NAME: found
 * …, expected …", which the caller frees; NULL without memory.
 */
int sim_key_store(const struct sim_key *key, void *base, const char *text, char **ret_message);

/* Sets *ret_message to the sentence, which the caller frees; NULL without memory. Returns -EINVAL.
 */
int sim_refuse(char **ret_message, const char *format, ...) __attribute__((format(printf, 2, 3)));
