/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The fields of the records that come often, in one table. A body holds the first field, which
 * says what it is about, and then for each other field its difference from the same field of the
 * same CPU, task or device when it was last recorded. Zeros at the end are left out.
 */

#include "record/codec.h"
#include "record/format.h"

/* What both sides remember of the records before. */
struct record_state;

/* NULL without memory. */
struct record_state *record_state_new(void);
struct record_state *record_state_free(struct record_state *state);

/*
 * Puts type and flag, length and body. Returns 0, -ERANGE if a field has a value that it cannot
 * have, or -E2BIG if it does not fit.
 */
int record_fields_put(struct record_state *state, struct record_out *out,
		      const struct record *record);

/*
 * Takes one record's body, of which in holds all and nothing else; has_time is the flag. ret->type
 * is given. Returns 0, -EBADMSG for a value that a field cannot have or a body that is too short,
 * or -EPROTONOSUPPORT when there are more fields than are known here.
 */
int record_fields_get(struct record_state *state, struct record_in *in, bool has_time,
		      struct record *ret);

/* Whether type is in the table: all but the topology, the policy and the end. */
bool record_has_fields(enum record_type type);

/* Whether two decisions are the same, field by field. */
bool record_same_decision(const struct decision *a, const struct decision *b);
