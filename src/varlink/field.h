/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Writes fields of the open object, as io.wakegov.varlink describes them: a line each. */

#include "varlink/json_out.h"

/* Opens an object ({) or a list ([), until json_out_close(). */
static inline void field_open(struct json_out *out, const char *key, char bracket)
{
	json_out_key(out, key);
	json_out_open(out, bracket);
}

/* NULL is null. json_out_text() makes any text safe. */
static inline void field_text(struct json_out *out, const char *key, const char *text)
{
	json_out_key(out, key);
	json_out_text(out, text);
}

static inline void field_bool(struct json_out *out, const char *key, bool value)
{
	json_out_key(out, key);
	json_out_bool(out, value);
}

static inline void field_null(struct json_out *out, const char *key)
{
	json_out_key(out, key);
	json_out_null(out);
}

static inline void field_count(struct json_out *out, const char *key, uint64_t value)
{
	json_out_key(out, key);
	json_out_count(out, value);
}

/* null if it is not known. */
static inline void field_count_if(struct json_out *out, const char *key, bool known, uint64_t value)
{
	if (known)
		field_count(out, key, value);
	else
		field_null(out, key);
}

/* 0 stands for "not known" or "none", and is null. */
static inline void field_nonzero(struct json_out *out, const char *key, uint64_t value)
{
	field_count_if(out, key, value != 0, value);
}
