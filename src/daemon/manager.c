// SPDX-License-Identifier: GPL-2.0-only
/* Starts the daemon's parts in order, runs the loop, and ends them in reverse. */
#include "daemon/manager.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "daemon/api/api.h"
#include "daemon/domains.h"
#include "daemon/journal.h"
#include "daemon/loop.h"
#include "daemon/process.h"
#include "daemon/rule_tracking.h"
#include "frequency/frequency.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"
#include "shared/version.h"

/*
 * The modules and their states, in the order in which their hooks are called. The rules come after
 * what hears of their tasks, and before what adds rules of its own; the history after all that may
 * need another round, and before a profile's change.
 */
static const struct {
	const struct module *module;
	size_t state;
} rows[] = {
	{ &hand_back_module, offsetof(struct manager, hand_back.core) },
	{ &own_clock_module, offsetof(struct manager, own_clock.core) },
	{ &watching_module, offsetof(struct manager, watching.core) },
	{ &saturation_module, offsetof(struct manager, saturation.core) },
	{ &monitor_module, offsetof(struct manager, monitor.core) },
	{ &clamps_module, offsetof(struct manager, clamps.core) },
	{ &placing_module, offsetof(struct manager, placing.core) },
	{ &idle_latency_module, offsetof(struct manager, idle_latency.core) },
	{ &rule_tracking_module, offsetof(struct manager, core.tracking.core) },
	{ &recording_module, offsetof(struct manager, recording.core) },
	{ &past_module, offsetof(struct manager, past.core) },
	{ &overrides_module, offsetof(struct manager, overrides.core) },
	{ &hinting_module, offsetof(struct manager, hinting.core) },
	{ &policies_module, offsetof(struct manager, policies.core) },
};

_Static_assert(ARRAY_SIZE(rows) <= MODULES_MAX, "the table of instances has an end");

static void add_modules(struct manager *manager)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct module_instance *instance = &manager->modules[i];

		instance->module = rows[i].module;
		instance->state = (char *)manager + rows[i].state;
		*(struct core **)instance->state = &manager->core;
	}
	manager->core.modules = manager->modules;
}

static int make_engine(struct core *core, struct past *past)
{
	core->engine = engine_new(core->topology, &core->policy);
	if (core->engine && past_init(past) == 0)
		return 0;
	log_error("out of memory for %u tasks: lower max-tasks in the policy",
		  core->policy.max_tasks);
	return -ENOMEM;
}

static int start_modules(struct core *core)
{
	modules_each(core, row) {
		int r = row->module->start ? row->module->start(row->state) : 0;

		if (r < 0) {
			log_error("cannot start %s: %s", row->module->name,
				  r == -ENOMEM
					  ? "out of memory: lower max-ruled-tasks in the policy"
					  : strerror(-r));
			return r;
		}
	}
	return 0;
}

static int start(struct manager *manager)
{
	struct core *core = &manager->core;
	int r = startup_read_policy(&manager->policies);

	r = r < 0 ? r : startup_find_domains(core);
	r = r < 0 ? r : startup_lock(core, &manager->locks);
	r = r < 0 ? r : startup_restore_predecessor(core, &manager->locks);
	r = r < 0 ? r : loop_open(&manager->loop);
	r = r < 0 ? r : startup_discover(core);
	r = r < 0 ? r : make_engine(core, &manager->past);
	r = r < 0 ? r : startup_start_tracer(core);
	r = r < 0 ? r : freq_invariance_start(core);
	r = r < 0 ? r : api_open(manager);
	r = r < 0 ? r : startup_acquire_domains(core);
	r = r < 0 ? r : rounds_start(core);
	r = r < 0 ? r : loop_listen(&manager->loop);
	r = r < 0 ? r : start_modules(core);
	return r < 0 ? r : freq_invariance_drop_capabilities(core);
}

int manager_new(const struct daemon_options *options, struct manager **ret)
{
	struct manager *manager = calloc(1, sizeof(*manager));
	int r;

	if (!manager)
		return log_oom();
	manager->options = *options;
	manager->core.options = &manager->options;
	manager->core.counts.started_ns = time_now_ns();
	manager->loop.core = &manager->core;
	manager->loop.hotplug_fd = -1;
	manager->locks = (struct locks){ -1, -1 };
	manager->policies.profile.power_fd = -1;
	manager->policies.profile.clock_fd = -1;
	manager->policies.profile.rules_due_ns = UINT64_MAX;
	add_modules(manager);
	r = start(manager);
	if (r < 0) {
		manager_free(manager);
		return r;
	}
	*ret = manager;
	return 0;
}

int manager_run(struct manager *manager)
{
	struct core *core = &manager->core;
	uint32_t driven = 0;
	int r = 0, code = 0;

	for (uint32_t i = 0; i < core->n_domains; i++)
		driven += core->domains[i].backend->writes;
	core->counts.start_cpu_us = process_cpu_us();
	journal_report(core, MESSAGE_GOVERNING, NULL, "wakegov %s: governing %u of %u domains",
		       wakegov_version, driven, core->n_domains);
	sd_notifyf(0, "READY=1\nSTATUS=Governing %u of %u domains", driven, core->n_domains);
	round_run(core);
	while (r >= 0 && sd_event_get_state(core->event) != SD_EVENT_FINISHED) {
		r = sd_event_run(core->event, UINT64_MAX);
		core->counts.wakeups++;
	}
	sd_notify(0, "STOPPING=1");
	sd_event_get_exit_code(core->event, &code);
	return r < 0 ? r : code;
}

static void release_domains(struct core *core)
{
	bool failed = false;
	int r;

	if (!core->saved) /* it ended before the first domain */
		return;
	restore_visit(core->saved);
	for (uint32_t i = 0; i < core->n_domains; i++) {
		struct governed *governed = &core->domains[i];

		if (governed->backend &&
		    actuator_domain_release(&governed->actuator, governed->backend,
					    journal_report_restore, NULL) < 0)
			failed = true;
	}
	/*
	 * The file that could not be written after one domain can be removed after the last: that
	 * takes no room.
	 */
	r = failed ? saved_save(core->saved) : 0;
	if (r < 0 && !core->saved->n)
		log_error("cannot remove %s/originals: %s; remove it, or the next wakegovd "
			  "restores its values again",
			  core->options->run_dir, strerror(-r));
}

static void free_core(struct core *core)
{
	sd_event_source_unref(core->rounds.timer);
	actuator_watch_free(core->watch);
	for (uint32_t i = 0; i < core->n_domains; i++)
		actuator_domain_deinit(&core->domains[i].actuator);
	tracer_free(core->tracer);
	frequency_free(core->frequency);
	engine_free(core->engine);
	saved_free(core->saved);
	sd_event_unref(core->event);
	free(core->domains);
	free(core->topology);
}

struct manager *manager_free(struct manager *manager)
{
	struct core *core;

	if (!manager)
		return NULL;
	core = &manager->core;
	/* Reads other programs' last writes before the end. */
	if (core->watch)
		domains_verify_touched(core);
	modules_call(core, stop);
	release_domains(core);
	modules_call(core, released);
	query_server_free(core->server);
	if (manager->socket_path)
		unlink(manager->socket_path);
	free(manager->socket_path);
	for (size_t i = ARRAY_SIZE(rows); i-- > 0;)
		if (rows[i].module->free)
			rows[i].module->free(manager->modules[i].state);
	loop_close(&manager->loop);
	free_core(core);
	close_fdp(&manager->locks.machine);
	close_fdp(&manager->locks.run_dir);
	free(manager);
	return NULL;
}
