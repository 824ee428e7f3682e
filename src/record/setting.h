/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What an engine is made from, as bodies of records: the topology, its domains, and the policy,
 * which is put key by key as src/config/keys.c names them, so that new keys come along.
 */

#include "core/settings.h"
#include "core/topology.h"
#include "record/codec.h"

/* What does not fit sets out->full. */
void record_topology_put(struct record_out *out, const struct topology *topology);
void record_domain_put(struct record_out *out, const struct topology_domain *domain);
void record_policy_put(struct record_out *out, const struct policy *policy);

/*
 * The inverses; in holds the whole body and nothing else. All take what the engine can work with
 * only: a policy whose values a file could give, domains with OPPs that ascend. Return 0, -EBADMSG
 * for anything else, or -EPROTONOSUPPORT for more fields, or keys, than are known here.
 *
 * *ret of record_topology_get() is allocated, with domains that are still to be read.
 */
int record_topology_get(struct record_in *in, struct topology **ret);
int record_domain_get(struct record_in *in, const struct topology *topology,
		      struct topology_domain *ret);
int record_policy_get(struct record_in *in, struct policy *ret);
