// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/manager.h"
#include "daemon/api/boost_news.h"
#include "daemon/history/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "actuator/saved.h"
#include "daemon/api/api.h"
#include "daemon/freq_invariance.h"
#include "daemon/history/past.h"
#include "daemon/journal.h"
#include "daemon/loop.h"
#include "daemon/modules/clamps.h"
#include "daemon/modules/hand_back.h"
#include "daemon/modules/hinting.h"
#include "daemon/modules/idle_latency.h"
#include "daemon/modules/overrides.h"
#include "daemon/modules/placing.h"
#include "daemon/modules/policy.h"
#include "daemon/rule_tracking.h"
#include "frequency/frequency.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"

static int make_core(struct manager *manager)
{
	manager->engine = engine_new(manager->topology, &manager->policy);
	manager->log = decision_log_new(manager->policy.max_decisions);
	manager->stats = stats_new(manager->topology);
	manager->account = account_new(manager->topology);
	if (!manager->engine || !manager->log || !manager->stats || !manager->account) {
		log_error("out of memory for %u tasks: lower max-tasks in the policy",
			  manager->policy.max_tasks);
		return -ENOMEM;
	}
	account_set_powers(manager);
	overrides_start(manager);
	return 0;
}

static int (*const steps[])(struct manager *) = {
	startup_read_policy,
	startup_find_domains,
	startup_lock,
	startup_restore_predecessor,
	events_open,
	startup_discover,
	make_core,
	startup_start_tracer,
	freq_invariance_start,
	api_open,
	startup_acquire_domains,
	grouping_start,
	placing_start,
	idle_latency_start,
	rule_tracking_start,
	past_start,
	hinting_start,
	events_listen,
	profile_listen,
	freq_invariance_drop_capabilities,
};

int manager_new(const struct manager_options *options, struct manager **ret)
{
	struct manager *manager = calloc(1, sizeof(*manager));
	int r = 0;

	if (!manager)
		return -ENOMEM;
	manager->options = *options;
	manager->lock_fd = -1;
	manager->machine_lock_fd = -1;
	manager->hotplug_fd = -1;
	manager->profile.power_fd = -1;
	manager->profile.clock_fd = -1;
	manager->scan_due_ns = UINT64_MAX;
	manager->started_ns = time_now_ns();
	for (size_t i = 0; i < ARRAY_SIZE(steps) && r >= 0; i++)
		r = steps[i](manager);
	if (r < 0) {
		manager_free(manager);
		return r;
	}
	*ret = manager;
	return 0;
}

int manager_run(struct manager *manager)
{
	uint32_t driven = 0;
	int r = 0, code = 0;

	for (uint32_t i = 0; i < manager->n_domains; i++)
		driven += manager->domains[i].backend->writes;
	journal_report(manager, MESSAGE_GOVERNING, NULL,
		       "wakegov " WAKEGOV_VERSION ": governing %u of %u domains", driven,
		       manager->n_domains);
	sd_notifyf(0, "READY=1\nSTATUS=Governing %u of %u domains", driven, manager->n_domains);
	manager_round(manager);
	while (r >= 0 && sd_event_get_state(manager->event) != SD_EVENT_FINISHED) {
		r = sd_event_run(manager->event, UINT64_MAX);
		manager->wakeups++;
	}
	sd_notify(0, "STOPPING=1");
	sd_event_get_exit_code(manager->event, &code);
	return r < 0 ? r : code;
}

static void release_domains(struct manager *manager)
{
	bool failed = false;
	int r;

	if (manager->saved)
		restore_visit(manager->saved);
	for (uint32_t i = 0; i < manager->n_domains; i++) {
		struct governed *governed = &manager->domains[i];

		if (governed->backend &&
		    governed->backend->release(&governed->actuator, journal_report_restore, NULL) <
			    0)
			failed = true;
	}
	/*
	 * The file that could not be written after one domain can be removed after the last: that
	 * takes no room.
	 */
	r = failed ? saved_save(manager->saved) : 0;
	if (r < 0 && !manager->saved->n)
		log_error("cannot remove %s/originals: %s; remove it, or the next wakegovd "
			  "restores its values again",
			  manager->options.run_dir, strerror(-r));
}

struct manager *manager_free(struct manager *manager)
{
	if (!manager)
		return NULL;
	/* Takes other programs' last writes before the end. */
	if (manager->watch)
		events_take_touched(manager);
	hand_back_restore(manager);
	past_stop(manager);
	release_domains(manager);
	grouping_end(manager);
	placing_end(manager);
	idle_latency_end(manager);
	if (manager->clamps)
		journal_log_left(uclamps_release(manager->clamps, journal_report_restore, NULL),
				 "the clamps of tasks", manager->options.run_dir, "clamps");
	uclamps_free(manager->clamps);
	recorder_free(manager->recording.recorder);
	query_server_free(manager->server);
	if (manager->socket_path)
		unlink(manager->socket_path);
	free(manager->socket_path);
	sd_event_source_unref(manager->timer);
	sd_event_source_unref(manager->newcomer_timer);
	sd_event_source_unref(manager->hand_back.timer);
	policy_hold_deinit(manager);
	profile_deinit(manager);
	actuator_watch_free(manager->watch);
	for (uint32_t i = 0; i < manager->n_domains; i++)
		actuator_domain_deinit(&manager->domains[i].actuator);
	hinting_stop(manager);
	rules_free(manager->rules);
	tracer_free(manager->tracer);
	frequency_free(manager->frequency);
	engine_free(manager->engine);
	decision_log_free(manager->log);
	stats_free(manager->stats);
	account_free(manager->account);
	boost_news_free(manager->boost_news);
	saved_free(manager->saved);
	sd_event_unref(manager->event);
	close_fdp(&manager->hotplug_fd);
	close_fdp(&manager->machine_lock_fd);
	close_fdp(&manager->lock_fd);
	free(manager->domains);
	free(manager->topology);
	free(manager->dropin_dir);
	free(manager->last_reload_error);
	free(manager);
	return NULL;
}
