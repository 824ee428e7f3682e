/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The fields of the frequent records, one row for each type; record/body.h encodes them. */

#include <stdbool.h>
#include <stdint.h>

#include "record/format.h"

#define RECORD_FIELDS_MAX 96

/* The expected value of a field; the difference from it is written. */
enum record_expect {
	RECORD_EXPECT_LAST, /* the value in the last record of the same CPU, task or device */
	RECORD_EXPECT_LIKE, /* the same, changed by as much as the field `like` */
	RECORD_EXPECT_NOW,  /* the record's time */
};

struct record_field {
	uint16_t offset; /* in struct record */
	uint8_t size;	 /* in bytes; 0 ends a row */
	uint8_t expect;	 /* enum record_expect */
	uint8_t like;	 /* index in the row, below this one's */
	uint64_t most;	 /* upper bound on which the core relies */
};

struct record_layout {
	uint32_t slots; /* number of subjects that are remembered; further ones share slots */
	const struct record_field *fields; /* the first names the subject */
};

/* slots is 0 for types without a row: the topology, the policy, the end, … */
const struct record_layout *record_layout_of(enum record_type type);

/* A number of 1, 4 or 8 bytes, which need not be aligned. */
uint64_t record_number_load(const void *at, uint8_t size);
void record_number_store(void *at, uint8_t size, uint64_t value);

uint64_t record_field_load(const struct record_field *field, const struct record *record);
void record_field_store(const struct record_field *field, struct record *record, uint64_t value);

/* Whether two decisions are the same, field by field. */
bool record_same_decision(const struct decision *a, const struct decision *b);
