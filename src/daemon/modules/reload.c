// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/modules/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/load.h"
#include "daemon/domains.h"
#include "daemon/journal.h"
#include "daemon/loop.h"
#include "daemon/modules/idle_latency.h"
#include "daemon/rule_tracking.h"
#include "shared/cleanup.h"
#include "shared/log.h"

/* Reads the text by way of a file, as policies are read from files. */
static int read_text(const char *text, struct policy_files **ret, char **ret_message)
{
	_cleanup_close_ int fd = memfd_create("policy", MFD_CLOEXEC);
	size_t size = strlen(text);
	char path[48];

	if (fd < 0 || fchmod(fd, 0600) < 0)
		return -errno;
	if (write(fd, text, size) != (ssize_t)size)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return policy_files_read(path, false, NULL, NULL, ret, ret_message);
}

static int put_into_force(struct manager *manager)
{
	struct policy policy;
	int r = profile_apply(manager, manager->policy_files, &policy);

	if (r < 0)
		return r;
	policy.backend = manager->policy.backend;
	policy.max_tasks = manager->policy.max_tasks;
	policy.max_decisions = manager->policy.max_decisions;
	policy.max_ruled_tasks = manager->policy.max_ruled_tasks;
	policy.query = manager->policy.query;
	policy.history = manager->policy.history;
	policy_put_into_effect(manager, &policy);
	profile_listen(manager);
	manager_round(manager);
	return 0;
}

static int go_back(struct manager *manager)
{
	struct policy_hold *hold = &manager->policy_hold;

	if (!hold->original)
		return 0;
	policy_files_free(manager->policy_files);
	manager->policy_files = hold->original;
	hold->original = NULL;
	log_info("the policy of the files is in force again");
	return put_into_force(manager);
}

/* Deferred, as the sender still uses the channel. */
static void on_unsubscribed(void *userdata)
{
	struct manager *manager = userdata;

	sd_event_source_set_enabled(manager->policy_hold.unheld, SD_EVENT_ONESHOT);
}

static int on_unheld(sd_event_source *source, void *userdata)
{
	return go_back(userdata);
}

int policy_hold_start(struct manager *manager, const char *text, char **ret_message)
{
	struct policy_hold *hold = &manager->policy_hold;
	struct policy_files *files;
	int r = read_text(text, &files, ret_message);

	if (r < 0)
		return r;
	/* The end of an earlier client was not noticed yet. */
	r = go_back(manager);
	if (r >= 0 && !hold->unheld)
		r = sd_event_add_defer(manager->event, &hold->unheld, on_unheld, manager);
	if (r >= 0)
		r = sd_event_source_set_enabled(hold->unheld, SD_EVENT_OFF);
	if (r < 0) {
		policy_files_free(files);
		return r;
	}
	hold->channel.unsubscribed = on_unsubscribed;
	hold->channel.userdata = manager;
	hold->original = manager->policy_files;
	manager->policy_files = files;
	log_info("another policy is in force for as long as its client listens");
	r = put_into_force(manager);
	if (r < 0)
		go_back(manager);
	return r;
}

void policy_hold_deinit(struct manager *manager)
{
	sd_event_source_unref(manager->policy_hold.unheld);
	policy_files_free(manager->policy_hold.original);
}

static int read_files(struct manager *manager, char **ret_message)
{
	struct policy_files *files;
	int r = policy_files_read(manager->options.policy_path,
				  manager->options.policy_may_be_missing, manager->dropin_dir, NULL,
				  &files, ret_message);

	if (r < 0)
		return r;
	/* There is no held policy to return from any more. */
	manager->policy_hold.original = policy_files_free(manager->policy_hold.original);
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
			journal_report(manager, MESSAGE_POLICY_REFUSED, NULL,
				       "%.*s; the old policy stays in force",
				       (int)strcspn(why, "\n"), why);
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
	domains_find_conflicts(manager);
	rule_tracking_check_policy(manager);
	profile_listen(manager);
	journal_report(manager, MESSAGE_POLICY_READ, NULL, "policy read again from %s",
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
