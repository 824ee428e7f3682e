// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/reload.h"

#include <stdlib.h>
#include <string.h>

#include "config/load.h"
#include "daemon/conflicts.h"
#include "daemon/freq_invariance.h"
#include "daemon/journal.h"
#include "daemon/round.h"
#include "daemon/rule_tracking.h"
#include "daemon/startup.h"
#include "shared/log.h"

static int reload(struct manager *manager, char **ret_message)
{
	struct policy policy;
	int r;

	r = policy_load(manager->options.policy_path, manager->options.policy_may_be_missing,
			manager->dropin_dir, &policy, ret_message);
	free(manager->last_reload_error);
	manager->last_reload_error = NULL;
	if (r < 0) {
		/* Without memory there is no message either. */
		const char *why = *ret_message ? *ret_message : strerror(-r);

		manager->last_reload_error = strdup(why);
		for (; *why; why += strcspn(why, "\n"), why += *why == '\n')
			journal_tell(manager, MESSAGE_POLICY_REFUSED, NULL,
				     "%.*s; the old policy stays in force", (int)strcspn(why, "\n"),
				     why);
		return r;
	}
	if (policy.backend != manager->policy.backend && !manager->options.observe)
		log_warning("a new backend takes effect when wakegovd is restarted");
	if (policy.max_tasks != manager->policy.max_tasks ||
	    policy.max_decisions != manager->policy.max_decisions ||
	    policy.max_ruled_tasks != manager->policy.max_ruled_tasks)
		log_warning("new sizes of tables take effect when wakegovd is restarted");
	task_overrides_check(&manager->task_overrides, &policy);
	task_overrides_fill(&manager->task_overrides, &policy);
	manager->policy = policy;
	manager->reloads++;
	manager_find_rivals(manager);
	for (uint32_t i = 0; i < manager->n_domains; i++)
		startup_set_preference(manager, i);
	engine_set_policy(manager->engine, &policy);
	freq_invariance_choose_references(manager);
	rule_tracking_check_policy(manager);
	rule_tracking_set_policy(manager);
	query_server_set_limits(manager->server, &policy.query);
	journal_tell(manager, MESSAGE_POLICY_READ, NULL, "policy read again from %s",
		     manager->options.policy_path);
	return 0;
}

int manager_reload(struct manager *manager, void (*warn)(void *context, const char *line),
		   void *context, char **ret_message)
{
	int r;

	log_set_listener(warn, context);
	r = reload(manager, ret_message);
	manager_round(manager);
	log_set_listener(NULL, NULL);
	return r;
}
