/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The bodies of the records that come often. A body holds the difference of the time, if the record
 * has one; the first field, which says what it is about; then the others, eight by eight: a byte
 * with a bit for each that is not as expected (record/fields.h), and the differences of those.
 * Groups at the end in which all is as expected are left out.
 */

#include "record/codec.h"
#include "record/format.h"

/* What both sides remember of the records before. */
struct record_state;

/* NULL without memory. */
struct record_state *record_state_new(void);
struct record_state *record_state_free(struct record_state *state);

/* Whether type has a body of this form: all but the topology, the policy, the state and the end. */
bool record_has_fields(enum record_type type);

/*
 * Puts type and flag, length and body. Returns 0, -ERANGE if a field has a value that it cannot
 * have, or -E2BIG if it does not fit.
 */
int record_body_put(struct record_state *state, struct record_out *out,
		    const struct record *record);

/*
 * Takes one record's body, of which in holds all and nothing else; has_time is the flag. ret->type
 * is given. Returns 0, -EBADMSG for a value that a field cannot have or a body that is too short,
 * or -EPROTONOSUPPORT when there are more fields than are known here.
 */
int record_body_get(struct record_state *state, struct record_in *in, bool has_time,
		    struct record *ret);
