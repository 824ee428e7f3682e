/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The bodies of the frequent records. A body has the difference of the time, if the record has one;
 * the first field, which names its subject; then the others in groups of eight: a byte with a bit
 * for each field that is not as expected (record/fields.h), and the differences of those. Groups at
 * the end in which all fields are as expected are left out.
 */

#include "record/codec.h"
#include "record/format.h"

/* The state of writer and reader that follows from earlier records. */
struct record_state;

/* NULL without memory. */
struct record_state *record_state_new(void);
struct record_state *record_state_free(struct record_state *state);

/* Whether type has a body of this form: all but the topology, the policy, the state and the end. */
bool record_has_fields(enum record_type type);

/*
 * Writes type and flag, length and body. Returns 0, -ERANGE if a field has an impossible value, or
 * -E2BIG if it does not fit.
 */
int record_body_put(struct record_state *state, struct record_out *out,
		    const struct record *record);

/*
 * Reads one record's body, which `in` holds exactly; has_time is the flag. ret->type is given.
 * Returns 0, -EBADMSG for an impossible value or a body that is too short, or -EPROTONOSUPPORT for
 * more fields than are known here.
 */
int record_body_get(struct record_state *state, struct record_in *in, bool has_time,
		    struct record *ret);
