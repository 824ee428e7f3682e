/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The bodies of records (record/format.h): of the frequent ones by a table of their fields
 * (fields.c, body.c), of the topology and the policy one by one (setting.c).
 *
 * The body of a frequent record has the difference of the time, if the record has one; the first
 * field, which names its subject; then the others in groups of eight: a byte with a bit for each
 * field that is not as expected, and the differences of those. Groups at the end in which all
 * fields are as expected are left out.
 */

#include "core/field.h"
#include "record/codec.h"
#include "record/format.h"

#define RECORD_FIELDS_MAX 96

/* The expected value of a field; the difference from it is written. */
enum record_expect {
	RECORD_EXPECT_LAST, /* the value in the last record of the same CPU, task or device */
	RECORD_EXPECT_LIKE, /* the same, changed by as much as the field `like` */
	RECORD_EXPECT_NOW,  /* the record's time */
};

/* What the engine trusts besides an upper bound, since its callers take it from the machine. */
enum record_check {
	RECORD_CHECK_NOTHING,
	RECORD_CHECK_DOMAIN, /* one of the topology */
	RECORD_CHECK_PID,    /* not 0 */
};

struct record_field {
	struct field field; /* of struct record */
	uint8_t expect;	    /* enum record_expect */
	uint8_t like;	    /* index in the row, below this one's */
	uint8_t check;	    /* enum record_check */
};

struct record_layout {
	uint32_t slots; /* number of subjects that are remembered; further ones share slots */
	const struct record_field *fields; /* the first names the subject */
};

/* slots is 0 for types without a row: the topology, the policy, the end, … */
const struct record_layout *record_layout_of(enum record_type type);

/* Whether two decisions are the same, field by field. */
bool record_same_decision(const struct decision *a, const struct decision *b);

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

/* Sets out->full if it does not fit. */
void record_topology_put(struct record_out *out, const struct topology *topology);
void record_domain_put(struct record_out *out, const struct topology_domain *domain);
void record_policy_put(struct record_out *out, const struct policy *policy);

/*
 * The inverses; `in` has exactly the body. They accept only what the engine can use: a policy whose
 * values a file could give, domains with ascending OPPs. Return 0, -EBADMSG for anything else, or
 * -EPROTONOSUPPORT for more fields, or keys, than are known here.
 *
 * *ret of record_topology_get() is allocated; its domains must still be read.
 */
int record_topology_get(struct record_in *in, struct topology **ret);
int record_domain_get(struct record_in *in, const struct topology *topology,
		      struct topology_domain *ret);
int record_policy_get(struct record_in *in, struct policy *ret);
