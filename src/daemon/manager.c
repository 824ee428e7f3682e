// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/manager.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "actuator/hotplug.h"
#include "config/load.h"
#include "daemon/freq_invariance.h"
#include "daemon/manager_private.h"
#include "daemon/overrides.h"
#include "daemon/recording.h"
#include "daemon/rule_tracking.h"
#include "daemon/startup.h"
#include "daemon/task_override.h"
#include "frequency/frequency.h"
#include "shared/cleanup.h"
#include "shared/log.h"

#define TIMER_ACCURACY_US 200 /* sd-event's own default, 250 ms, is made for other work */

static int on_records(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct manager *manager = userdata;

	tracer_consume(manager->tracer, manager_take_event, manager);
	ruling_mind_losses(manager);
	manager_round(manager);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	manager_round(userdata);
	return 0;
}

static void take_touched(void *userdata, struct actuator_domain *actuator, enum control control)
{
	struct manager *manager = userdata;

	for (uint32_t i = 0; i < manager->n_domains; i++)
		if (&manager->domains[i].actuator == actuator)
			manager_verify_domain(manager, i);
}

static int on_touched(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct manager *manager = userdata;

	actuator_watch_read(manager->watch, take_touched, manager);
	manager_round(manager);
	return 0;
}

static void verify_domain_of(struct manager *manager, uint32_t cpu)
{
	uint32_t domain = TOPOLOGY_NO_DOMAIN;

	if (cpu < manager->topology->n_cpus)
		domain = manager->topology->cpu_domain[cpu];
	if (domain == TOPOLOGY_NO_DOMAIN) {
		if (manager->n_domains)
			log_notice("CPU %u was not there at the start and is not governed; restart "
				   "wakegovd to include it",
				   cpu);
		return;
	}
	actuator_domain_forget_request(&manager->domains[domain].actuator);
	measure_forget(manager, cpu);
	manager_verify_domain(manager, domain);
}

static int on_hotplug(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct manager *manager = userdata;
	uint32_t cpu;
	bool online;
	int r;

	while ((r = hotplug_read(fd, &cpu, &online)) > 0)
		verify_domain_of(manager, cpu);
	if (r == -ENOBUFS)
		for (uint32_t i = 0; i < manager->topology->n_cpus; i++)
			verify_domain_of(manager, i);
	manager_round(manager);
	return 0;
}

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
			manager_tell(manager, MESSAGE_POLICY_REFUSED, NULL,
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
	leasing_extend(manager, &policy);
	manager->policy = policy;
	manager->reloads++;
	manager_find_rivals(manager);
	for (uint32_t i = 0; i < manager->n_domains; i++)
		takeover_set_preference(manager, i);
	record_engine_set_policy(manager->recorder, manager->engine, &policy);
	measure_choose_references(manager);
	ruling_check_policy(manager);
	ruling_set_policy(manager);
	query_server_set_limits(manager->server, &policy.query);
	manager_tell(manager, MESSAGE_POLICY_READ, NULL, "policy read again from %s",
		     manager->options.policy_path);
	return 0;
}

static int reload_for_client(void *userdata, void (*warn)(void *context, const char *line),
			     void *context, char **ret_message)
{
	struct manager *manager = userdata;
	int r;

	log_set_listener(warn, context);
	r = reload(manager, ret_message);
	manager_round(manager);
	log_set_listener(NULL, NULL);
	return r;
}

static int record_for_client(void *userdata, uint64_t max_bytes)
{
	if (!max_bytes)
		max_bytes = RECORDING_BYTES_DEFAULT;
	return recording_start(userdata, max_bytes < RECORDING_BYTES_LEAST ? RECORDING_BYTES_LEAST
									   : max_bytes);
}

static void stop_recording_for_client(void *userdata)
{
	recording_stop(userdata, "stopped");
}

static int on_reload_signal(sd_event_source *source, const struct signalfd_siginfo *info,
			    void *userdata)
{
	_cleanup_free_ char *message = NULL;

	sd_notify(0, "RELOADING=1");
	reload_for_client(userdata, NULL, NULL, &message);
	sd_notify(0, "READY=1");
	return 0;
}

static int add_signals(struct manager *manager)
{
	sigset_t mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return -errno;
	r = sd_event_add_signal(manager->event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(manager->event, NULL, SIGINT, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(manager->event, NULL, SIGHUP, on_reload_signal, manager);
	return r;
}

/* Who took a domain over, or that it is gone, is heard before the next decision is written. */
static int add_urgent(struct manager *manager, int fd, sd_event_io_handler_t handler)
{
	sd_event_source *source;
	int r = sd_event_add_io(manager->event, &source, fd, EPOLLIN, handler, manager);

	if (r < 0)
		return r;
	sd_event_source_set_priority(source, SD_EVENT_PRIORITY_IMPORTANT);
	sd_event_source_set_floating(source, true);
	sd_event_source_unref(source);
	return 0;
}

static int add_sources(struct manager *manager)
{
	sd_event *event = manager->event;
	int r;

	r = sd_event_add_io(event, NULL, tracer_fd(manager->tracer), EPOLLIN, on_records, manager);
	if (r >= 0)
		r = add_urgent(manager, actuator_watch_fd(manager->watch), on_touched);
	if (r >= 0 && manager->hotplug_fd >= 0)
		r = add_urgent(manager, manager->hotplug_fd, on_hotplug);
	if (r >= 0)
		r = sd_event_add_time(event, &manager->timer, CLOCK_MONOTONIC, 0, TIMER_ACCURACY_US,
				      on_timer, manager);
	if (r >= 0)
		r = sd_event_set_watchdog(event, true);
	return r < 0 ? r : 0;
}

/* Signals are blocked first of all: from then on none can end the daemon half way. */
static int open_event_loop(struct manager *manager)
{
	int r = sd_event_new(&manager->event);

	if (r >= 0)
		r = add_signals(manager);
	if (r >= 0)
		r = actuator_watch_new(&manager->watch);
	if (r < 0) {
		log_error("cannot set up the event loop: %s", strerror(-r));
		return r;
	}
	manager->hotplug_fd = hotplug_open();
	if (manager->hotplug_fd < 0)
		log_warning("cannot hear of CPUs that go offline: %s",
			    strerror(-manager->hotplug_fd));
	return 0;
}

static int open_socket(struct manager *manager)
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
	manager_fill_source(manager);
	manager->source.reload = reload_for_client;
	manager->source.record_start = record_for_client;
	manager->source.record_stop = stop_recording_for_client;
	r = query_server_new(manager->event, fd, &manager->source, &manager->policy.query,
			     &manager->server);
	if (r < 0) {
		log_error("cannot serve the query socket: %s", strerror(-r));
		return r;
	}
	take_fd(&fd);
	return 0;
}

static int make_core(struct manager *manager)
{
	overrides_read(manager);
	manager->engine = engine_new(manager->topology, &manager->policy);
	manager->log = decision_log_new(manager->policy.max_decisions);
	manager->account = account_new(manager->topology);
	if (!manager->engine || !manager->log || !manager->account) {
		log_error("out of memory for %u tasks: lower max-tasks in the policy",
			  manager->policy.max_tasks);
		return -ENOMEM;
	}
	overrides_resume(manager);
	return 0;
}

static int start(struct manager *manager)
{
	static int (*const steps[])(struct manager *) = {
		takeover_read_policy,
		takeover_find_domains,
		takeover_lock,
		takeover_restore_predecessor,
		open_event_loop,
		takeover_discover,
		make_core,
		takeover_start_tracer,
		measure_start,
		open_socket,
		takeover_acquire_domains,
		leasing_start,
		grouping_start,
		ruling_start,
		add_sources,
	};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int r = steps[i](manager);

		if (r < 0)
			return r;
	}
	return 0;
}

int manager_new(const struct manager_options *options, struct manager **ret)
{
	struct manager *manager = calloc(1, sizeof(*manager));
	int r;

	if (!manager)
		return -ENOMEM;
	manager->options = *options;
	manager->lock_fd = -1;
	manager->machine_lock_fd = -1;
	manager->hotplug_fd = -1;
	manager->started_ns = manager_now_ns();
	r = start(manager);
	if (r < 0) {
		manager_free(manager);
		return r;
	}
	*ret = manager;
	return 0;
}

static uint32_t count_driven(const struct manager *manager)
{
	uint32_t driven = 0;

	for (uint32_t i = 0; i < manager->n_domains; i++)
		driven += manager->domains[i].backend != &backend_observe;
	return driven;
}

int manager_run(struct manager *manager)
{
	int r = 0;

	manager_tell(manager, MESSAGE_GOVERNING, NULL,
		     "wakegov " WAKEGOV_VERSION ": governing %u of %u domains",
		     count_driven(manager), manager->n_domains);
	sd_notifyf(0, "READY=1\nSTATUS=Governing %u of %u domains", count_driven(manager),
		   manager->n_domains);
	manager_round(manager);
	while (r >= 0 && sd_event_get_state(manager->event) != SD_EVENT_FINISHED) {
		r = sd_event_run(manager->event, UINT64_MAX);
		manager->wakeups++;
	}
	sd_notify(0, "STOPPING=1");
	return r < 0 ? r : 0;
}

static void release_domains(struct manager *manager)
{
	for (uint32_t i = 0; i < manager->n_domains; i++) {
		struct governed *governed = &manager->domains[i];

		if (governed->backend)
			governed->backend->release(&governed->actuator, takeover_report_restore,
						   NULL);
	}
}

struct manager *manager_free(struct manager *manager)
{
	if (!manager)
		return NULL;
	/* Who wrote last before the end counts as well. */
	if (manager->watch)
		actuator_watch_read(manager->watch, take_touched, manager);
	release_domains(manager);
	grouping_end(manager);
	if (manager->clamps)
		uclamps_release(manager->clamps, takeover_report_restore, NULL);
	uclamps_free(manager->clamps);
	recorder_free(manager->recorder);
	query_server_free(manager->server);
	if (manager->socket_path)
		unlink(manager->socket_path);
	free(manager->socket_path);
	sd_event_source_unref(manager->timer);
	actuator_watch_free(manager->watch);
	for (uint32_t i = 0; i < manager->n_domains; i++)
		actuator_domain_deinit(&manager->domains[i].actuator);
	ruling_end(manager);
	leasing_end(manager);
	tracer_free(manager->tracer);
	frequency_free(manager->frequency);
	engine_free(manager->engine);
	decision_log_free(manager->log);
	account_free(manager->account);
	boost_news_free(manager->boost_news);
	originals_free(manager->originals);
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
