// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/reload.h"

#include <stdlib.h>
#include <string.h>

#include "config/load.h"
#include "daemon/conflicts.h"
#include "daemon/idle_latency.h"
#include "daemon/journal.h"
#include "daemon/policy.h"
#include "daemon/policy_hold.h"
#include "daemon/profile.h"
#include "daemon/profile_switch.h"
#include "daemon/round.h"
#include "daemon/rule_tracking.h"
#include "shared/log.h"

static int read_files(struct manager *manager, char **ret_message)
{
	struct policy_files *files;
	int r = policy_files_read(manager->options.policy_path,
				  manager->options.policy_may_be_missing, manager->dropin_dir,
				  &files, ret_message);

	if (r < 0)
		return r;
	policy_hold_forget(manager);
	policy_files_free(manager->policy_files);
	manager->policy_files = files;
	return 0;
}

static int reload(struct manager *manager, char **ret_message)
{
	struct policy policy;
	int r = read_files(manager, ret_message);

	free(manager->last_reload_error);
	manager->last_reload_error = NULL;
	if (r < 0) {
		/* The message is NULL without memory. */
		const char *why = *ret_message ? *ret_message : strerror(-r);

		manager->last_reload_error = strdup(why);
		for (; *why; why += strcspn(why, "\n"), why += *why == '\n')
			journal_tell(manager, MESSAGE_POLICY_REFUSED, NULL,
				     "%.*s; the old policy stays in force", (int)strcspn(why, "\n"),
				     why);
		return r;
	}
	r = profile_apply(manager, manager->policy_files, &policy);
	if (r < 0)
		return r;
	if (policy.backend != manager->policy.backend)
		log_warning("a new backend takes effect when wakegovd is restarted");
	if (policy.max_tasks != manager->policy.max_tasks ||
	    policy.max_decisions != manager->policy.max_decisions ||
	    policy.max_ruled_tasks != manager->policy.max_ruled_tasks)
		log_warning("new sizes of tables take effect when wakegovd is restarted");
	manager->reloads++;
	idle_latency_retry(manager);
	policy_put_into_effect(manager, &policy);
	manager_find_rivals(manager);
	rule_tracking_check_policy(manager);
	profile_switch_listen(manager);
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
