// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/policy.h"

#include "daemon/freq_invariance.h"
#include "daemon/hinting.h"
#include "daemon/rule_tracking.h"
#include "daemon/startup.h"

void policy_put_into_effect(struct manager *manager, const struct policy *policy)
{
	manager->policy = *policy;
	task_overrides_check(&manager->task_overrides, &manager->policy);
	task_overrides_fill(&manager->task_overrides, &manager->policy);
	hinting_fill_policy(manager);
	for (uint32_t i = 0; i < manager->n_domains; i++)
		startup_set_preference(manager, i);
	engine_set_policy(manager->engine, &manager->policy);
	freq_invariance_choose_references(manager);
	rule_tracking_set_policy(manager);
	hinting_mind_tasks(manager);
	query_server_set_limits(manager->server, &manager->policy.query);
}
