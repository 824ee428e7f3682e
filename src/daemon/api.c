// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/load.h"
#include "daemon/conflicts.h"
#include "daemon/freq_invariance.h"
#include "daemon/journal.h"
#include "daemon/overrides.h"
#include "daemon/recording.h"
#include "daemon/round.h"
#include "daemon/rule_tracking.h"
#include "daemon/startup.h"
#include "daemon/task_override.h"
#include "daemon/views.h"
#include "shared/cleanup.h"
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
	leases_check(&manager->leases, &policy);
	leases_fill(&manager->leases, &policy);
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

int api_reload(void *userdata, void (*warn)(void *context, const char *line), void *context,
	       char **ret_message)
{
	struct manager *manager = userdata;
	int r;

	log_set_listener(warn, context);
	r = reload(manager, ret_message);
	manager_round(manager);
	log_set_listener(NULL, NULL);
	return r;
}

static int record(void *userdata, uint64_t max_bytes)
{
	if (!max_bytes)
		max_bytes = RECORDING_BYTES_DEFAULT;
	return recording_start(userdata, max_bytes < RECORDING_BYTES_LEAST ? RECORDING_BYTES_LEAST
									   : max_bytes);
}

static void stop_recording(void *userdata)
{
	recording_stop(userdata, "stopped");
}

/* Above all that are in force. */
static uint32_t next_id(const struct manager *manager)
{
	const struct override_table *table = engine_overrides(manager->engine);
	const struct leases *leases = &manager->leases;
	uint32_t last = table->n ? table->entries[table->n - 1].id : 0;

	if (leases->n && leases->entries[leases->n - 1].target.id > last)
		last = leases->entries[leases->n - 1].target.id;
	return last + 1;
}

static int add_override(void *userdata, const struct override_request *request, uint32_t *ret_id,
			uint32_t *ret_max, const char **ret_wrong)
{
	struct manager *manager = userdata;
	uint32_t id = next_id(manager);
	int r;

	*ret_max = OVERRIDES_MAX;
	r = request->domain ? overrides_add(manager, request, id)
			    : task_override_add(manager, request, id, ret_max, ret_wrong);
	if (r < 0)
		return r;
	*ret_id = id;
	manager_round(manager);
	return 0;
}

static int cancel_override(void *userdata, uint32_t id)
{
	struct manager *manager = userdata;
	int r = task_override_cancel(manager, id) ? 0 : overrides_cancel(manager, id);

	if (r == 0)
		manager_round(manager);
	return r;
}

static int list_overrides(void *userdata, override_emit_t emit, void *context)
{
	int r = overrides_list(userdata, emit, context);

	return r ? r : task_override_list(userdata, emit, context);
}

static int adopt(void *userdata, const char *name, uint32_t *ret_adopted)
{
	int r = manager_adopt(userdata, name, ret_adopted);

	manager_round(userdata);
	return r;
}

static void fill_source(struct manager *manager)
{
	manager->source = (struct query_source){
		.status = views_show_status,
		.programs = views_list_programs,
		.advice = views_list_advice,
		.domains = views_list_domains,
		.tasks = views_list_tasks,
		.devices = views_list_devices,
		.decisions = views_list_decisions,
		.knows_domain = views_knows_domain,
		.io_min_rate = views_io_min_rate,
		.explain = views_explain,
		.rules = views_list_rules,
		.count_rules = views_count_rules,
		.rule_tasks = views_list_rule_tasks,
		.capped_tasks = views_list_capped,
		.explain_rules = views_explain_rules,
		.overrides = list_overrides,
		.add_override = add_override,
		.cancel_override = cancel_override,
		.adopt = adopt,
		.opp_times = views_list_opp_times,
		.counts = views_list_counts,
		.reload = api_reload,
		.record_start = record,
		.record_stop = stop_recording,
		.userdata = manager,
	};
}

int api_open(struct manager *manager)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *path = NULL;
	int r;

	if (asprintf(&path, "%s/io.wakegov", manager->options.run_dir) < 0)
		return -ENOMEM;
	fd = query_listen(path);
	if (fd < 0) {
		log_error("cannot listen on %s: %s", path,
			  fd == -EADDRINUSE ? "another program answers there; stop it first"
					    : strerror(-fd));
		return take_fd(&fd);
	}
	manager->socket_path = take_ptr(path);
	fill_source(manager);
	r = query_server_new(manager->event, fd, &manager->source, &manager->policy.query,
			     &manager->server);
	if (r < 0) {
		log_error("cannot serve the query socket: %s", strerror(-r));
		return r;
	}
	take_fd(&fd);
	return 0;
}
