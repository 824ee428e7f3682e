// SPDX-License-Identifier: GPL-2.0-only
/* Reads the policy again, or puts a client's policy into force while it holds its connection. */
#include "daemon/modules/policy.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "config/load.h"
#include "daemon/domains.h"
#include "daemon/journal.h"
#include "daemon/loop.h"
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
	return policy_files_read(path, false, NULL, ret, ret_message);
}

static int put_into_force(struct policies *policies)
{
	struct core *core = policies->core;
	struct policy policy;
	int r = profile_apply(policies, &policy);

	if (r < 0)
		return r;
	policy.backend = core->policy.backend;
	policy.max_tasks = core->policy.max_tasks;
	policy.max_decisions = core->policy.max_decisions;
	policy.max_ruled_tasks = core->policy.max_ruled_tasks;
	policy.query = core->policy.query;
	policy.history = core->policy.history;
	policy_put_into_effect(core, &policy);
	profile_listen(policies);
	round_run(core);
	return 0;
}

static int go_back(struct policies *policies)
{
	if (!policies->held)
		return 0;
	policies->held = policy_files_free(policies->held);
	log_info("the policy of the files is in force again");
	return put_into_force(policies);
}

static void expire(void *state, uint64_t now_ns)
{
	struct policies *policies = state;

	if (!channel_has_subscriber(&policies->hold))
		go_back(policies);
	profile_expire(policies, now_ns);
}

static uint64_t next_ns(void *state, uint64_t now_ns)
{
	return ((const struct policies *)state)->profile.rules_due_ns;
}

int policy_hold_start(struct policies *policies, const char *text, char **ret_message)
{
	struct policy_files *files;
	int r = read_text(text, &files, ret_message);

	if (r < 0)
		return r;
	/* There is one where the end of an earlier client was not noticed yet. */
	policy_files_free(policies->held);
	policies->held = files;
	log_info("another policy is in force for as long as its client listens");
	r = put_into_force(policies);
	if (r < 0)
		go_back(policies);
	return r;
}

static int read_files(struct policies *policies, char **ret_message)
{
	struct core *core = policies->core;
	struct policy_files *files;
	int r = policy_files_read(core->options->policy_path, core->options->policy_may_be_missing,
				  policies->dropin_dir, &files, ret_message);

	if (r < 0)
		return r;
	policies->held = policy_files_free(policies->held);
	policy_files_free(policies->files);
	policies->files = files;
	return 0;
}

static int reload(struct policies *policies, char **ret_message)
{
	struct core *core = policies->core;
	struct policy policy;
	int r = read_files(policies, ret_message);

	free(policies->last_error);
	policies->last_error = NULL;
	if (r < 0) {
		/* The message is NULL without memory. */
		const char *why = *ret_message ? *ret_message : strerror(-r);

		policies->last_error = strdup(why);
		for (; *why; why += strcspn(why, "\n"), why += *why == '\n')
			journal_report(core, MESSAGE_POLICY_REFUSED, NULL,
				       "%.*s; the old policy stays in force",
				       (int)strcspn(why, "\n"), why);
		return r;
	}
	r = profile_apply(policies, &policy);
	if (r < 0)
		return r;
	if (policy.backend != core->policy.backend)
		log_warning("a new backend takes effect when wakegovd is restarted");
	if (policy.max_tasks != core->policy.max_tasks ||
	    policy.max_decisions != core->policy.max_decisions ||
	    policy.max_ruled_tasks != core->policy.max_ruled_tasks)
		log_warning("new sizes of tables take effect when wakegovd is restarted");
	policies->reloads++;
	policy_put_into_effect(core, &policy);
	domains_find_conflicts(core);
	rule_tracking_check_policy(core);
	profile_listen(policies);
	journal_report(core, MESSAGE_POLICY_READ, NULL, "policy read again from %s",
		       core->options->policy_path);
	return 0;
}

int policy_reload(struct policies *policies, void (*warn)(void *context, const char *line),
		  void *context, char **ret_message)
{
	int r;

	log_set_listener(warn, context);
	r = reload(policies, ret_message);
	round_run(policies->core);
	log_set_listener(NULL, NULL);
	return r;
}

static int on_reload_signal(sd_event_source *source, const struct signalfd_siginfo *info,
			    void *userdata)
{
	_cleanup_free_ char *message = NULL;

	sd_notify(0, "RELOADING=1");
	policy_reload(userdata, NULL, NULL, &message);
	sd_notify(0, "READY=1");
	return 0;
}

/* The signal is blocked since the event loop was created. */
static int start(void *state)
{
	struct policies *policies = state;
	int r = sd_event_add_signal(policies->core->event, NULL, SIGHUP, on_reload_signal,
				    policies);

	return r < 0 ? r : profile_listen(policies);
}

static void free_policies(void *state)
{
	struct policies *policies = state;

	policy_files_free(policies->held);
	profile_deinit(policies);
	policy_files_free(policies->files);
	free(policies->dropin_dir);
	free(policies->last_error);
}

const struct module policies_module = {
	.name = "policies",
	.start = start,
	.free = free_policies,
	.tasks_changed = profile_check_rules,
	.expire = expire,
	.next_ns = next_ns,
};
