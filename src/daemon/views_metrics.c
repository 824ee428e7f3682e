// SPDX-License-Identifier: GPL-2.0-only
/* What the manager counts, for metrics. */
#include "daemon/state.h"
#include "daemon/views.h"
#include "shared/time.h"

int views_list_opp_times(void *userdata, opp_time_emit_t emit, void *context)
{
	const struct manager *manager = userdata;
	const struct topology *topology = manager->topology;
	uint64_t now_ns = time_now_ns();
	int r = 0;

	for (uint32_t domain = 0; domain < manager->n_domains; domain++) {
		const struct topology_domain *info = &topology->domains[domain];

		for (uint32_t opp = 0; !r && opp < info->n_opps; opp++)
			r = emit(context,
				 &(struct opp_time_view){
					 .domain = info->name,
					 .khz = info->opp_khz[opp],
					 .ns = stats_opp_ns(manager->stats, domain, opp, now_ns),
				 });
	}
	return r;
}

static int count_decisions(const struct manager *manager, count_emit_t emit, void *context)
{
	int r = 0;

	for (enum reason reason = 0; !r && reason <= REASON_LAST; reason++)
		r = emit(context, reason_name(reason), stats_decisions(manager->stats, reason));
	return r;
}

static int count_limits(const struct manager *manager, count_emit_t emit, void *context)
{
	int r = 0;

	for (enum limiter limiter = 0; !r && limiter <= LIMITER_LAST; limiter++)
		r = emit(context, limiter_name(limiter), stats_limits(manager->stats, limiter));
	return r;
}

static int count_boosts(const struct manager *manager, count_emit_t emit, void *context)
{
	int r = 0;

	for (enum io_boost_state state = 0; !r && state <= IO_BOOST_LAPSED; state++)
		r = emit(context, io_boost_state_name(state),
			 engine_count_boosts(manager->engine, state));
	return r;
}

int views_list_counts(void *userdata, enum count_kind kind, count_emit_t emit, void *context)
{
	const struct manager *manager = userdata;

	switch (kind) {
	case COUNT_DECISIONS:
		return count_decisions(manager, emit, context);
	case COUNT_LIMITS:
		return count_limits(manager, emit, context);
	case COUNT_BOOSTS:
		return count_boosts(manager, emit, context);
	}
	return 0;
}
