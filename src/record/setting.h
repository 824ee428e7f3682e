/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The description of an engine as bodies of records: the topology, its domains, and the policy,
 * which is written key by key as named in src/config/keys.c, so that new keys are included.
 */

#include "core/settings.h"
#include "core/topology.h"
#include "record/codec.h"

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
