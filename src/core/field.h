/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A member of a struct, by its place there: a row of what is checked in a state (engine_state.c),
 * or in a recording (record/valid.c).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct field {
	uint32_t offset;
	uint32_t size; /* of a number 1, 4 or 8, of a text more; 0 ends a table */
	uint64_t most; /* of a number: an upper bound on which the core relies */
};

#define FIELD(_struct, _member, _most)                                                             \
	{                                                                                          \
		offsetof(struct _struct, _member), sizeof(((struct _struct *)0)->_member), (_most) \
	}
#define FIELD_END       \
	{               \
		0, 0, 0 \
	}

/* Copies of a fixed size are single instructions; memcpy() of a variable one doubles the cost. */
static inline uint64_t field_load(const struct field *field, const void *from)
{
	const char *at = (const char *)from + field->offset;
	uint32_t u32;
	uint64_t u64;

	switch (field->size) {
	case 1:
		return *(const uint8_t *)at;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
}
