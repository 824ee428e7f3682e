/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Quantities with a unit: "20ms", "1.5GHz", "80%". Decimal, exact, no floating point. */

#include <stdint.h>

#define POLICY_UNITS_MAX 7

struct policy_units {
	const char *noun; /* "a duration" */
	struct {
		const char *name;
		uint64_t scale;	      /* this unit in the base unit */
	} list[POLICY_UNITS_MAX + 1]; /* ends with a NULL name */
};

extern const struct policy_units policy_units_none;	 /* plain number */
extern const struct policy_units policy_units_duration;	 /* base: ns */
extern const struct policy_units policy_units_frequency; /* base: kHz */
extern const struct policy_units policy_units_share;	 /* base: per cent */
extern const struct policy_units policy_units_capacity;	 /* of the scheduler's 1024 */
extern const struct policy_units policy_units_size;	 /* base: bytes */
extern const struct policy_units policy_units_rate;	 /* base: per second */
extern const struct policy_units policy_units_power;	 /* base: uW */

/* A group of this machine, by name or number; base: gid. */
extern const struct policy_units policy_units_group;

/*
 * Parses digits, at most one decimal point with digits on both sides, and one of units without a
 * blank before it. *ret is in the base unit. Returns -EINVAL for other text, decimals finer than
 * the base unit, and an unknown group; -ERANGE if the quantity does not fit.
 */
int policy_units_parse(const struct policy_units *units, const char *text, uint64_t *ret);
