/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The fields of the records that come often, one row for each type. How they become bytes is
 * record/body.h's business.
 */

#include <stdbool.h>
#include <stdint.h>

#include "record/format.h"

#define RECORD_FIELDS_MAX 96

/* What its value is expected to be; the difference from that is written. */
enum record_expect {
	RECORD_EXPECT_LAST, /* what it was when the same CPU, task or device was last recorded */
	RECORD_EXPECT_LIKE, /* that, changed by as much as the field `like` */
	RECORD_EXPECT_NOW,  /* the record's time */
};

struct record_field {
	uint16_t offset; /* in struct record */
	uint8_t size;	 /* in bytes; 0 ends a row */
	uint8_t expect;	 /* enum record_expect */
	uint8_t like;	 /* its place in the row, before this one's */
	uint64_t most;	 /* the core relies on no more */
};

struct record_layout {
	uint32_t slots; /* how many things are remembered; those beyond share theirs */
	const struct record_field *fields; /* the first says what it is about */
};

/* slots is 0 for the types that are not in the table: the topology, the policy, the end, … */
const struct record_layout *record_layout_of(enum record_type type);

/* A number of 1, 4 or 8 bytes, which need not be aligned. */
uint64_t record_number_load(const void *at, uint8_t size);
void record_number_store(void *at, uint8_t size, uint64_t value);

uint64_t record_field_load(const struct record_field *field, const struct record *record);
void record_field_store(const struct record_field *field, struct record *record, uint64_t value);

/* Whether two decisions are the same, field by field. */
bool record_same_decision(const struct decision *a, const struct decision *b);
