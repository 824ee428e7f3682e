// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "actuator/watch.h"
#include "daemon/domains.h"
#include "daemon/freq_invariance.h"
#include "daemon/modules/clamps.h"
#include "daemon/modules/hinting.h"
#include "daemon/modules/placing.h"
#include "daemon/modules/policy.h"
#include "daemon/opps.h"
#include "daemon/rule_tracking.h"
#include "frequency/frequency.h"
#include "frequency/reference.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"

#define TIMER_ACCURACY_US 200 /* sd-event's default, 250 ms, is too coarse for rounds */

static int on_records(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct manager *manager = userdata;

	int r = tracer_consume(manager->tracer, inputs_take_event, manager);

	/*
	 * The same priority as clients: a task that fills the ring without a pause must not starve
	 * them.
	 */
	sd_event_source_set_priority(source,
				     r > 0 ? SD_EVENT_PRIORITY_IDLE : SD_EVENT_PRIORITY_NORMAL);
	rule_tracking_check_scan(manager);
	manager_round(manager);
	profile_check_rules(manager);
	hinting_check_tasks(manager);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manager *manager = userdata;
	uint64_t now_ns = time_now_ns();

	if (now_ns >= task_overrides_next_ns(&manager->task_overrides))
		overrides_end_over(manager);
	if (now_ns >= rule_tracking_next_ns(manager))
		rule_tracking_check_scan(manager);
	if (now_ns >= manager->scan_due_ns) {
		manager->scan_due_ns = UINT64_MAX;
		/* Records in the ring are older than what the scan finds: they go first. */
		tracer_consume(manager->tracer, inputs_take_event, manager);
		rule_tracking_scan(manager);
	}
	manager_round(manager);
	profile_check_rules(manager);
	hinting_check_tasks(manager);
	return 0;
}

static void take_touched(void *userdata, struct actuator_domain *actuator, enum control control)
{
	struct manager *manager = userdata;

	for (uint32_t i = 0; i < manager->n_domains; i++)
		if (&manager->domains[i].actuator == actuator)
			domains_verify(manager, i);
}

void events_take_touched(struct manager *manager)
{
	actuator_watch_read(manager->watch, take_touched, manager);
}

static int on_touched(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct manager *manager = userdata;

	events_take_touched(manager);
	manager_round(manager);
	return 0;
}

/* A CPU's domain is complete when its last CPU is online; a restart follows at most once in 3 s. */
#define SETTLE_US (2 * US_PER_S)

/*
 * What is kept by CPU and domain has its size from the start, and the capabilities to load the
 * programs anew are gone: only another start can take them in. What outlasts a restart is in files.
 */
static int on_newcomers(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manager *manager = userdata;
	uint32_t cpu = manager->newcomer;

	if (sd_notify(0, "STATUS=Starting again for new CPUs") > 0) {
		log_notice("CPU %u was not there at the start: wakegovd ends, for systemd to start "
			   "it again with it",
			   cpu);
		return sd_event_exit(manager->event, -EAGAIN);
	}
	log_notice("CPU %u was not there at the start and is not governed; restart wakegovd to "
		   "include it",
		   cpu);
	return 0;
}

static void meet_newcomer(struct manager *manager, uint32_t cpu)
{
	uint64_t at_us = time_now_ns() / NS_PER_US + SETTLE_US;
	char path[64];
	int r;

	snprintf(path, sizeof(path), CONTROL_CPUS "/cpu%u/cpufreq", cpu);
	if (access(path, F_OK) < 0)
		return;
	if (manager->newcomer_timer) { /* once for all that come together; said once */
		sd_event_source_set_time(manager->newcomer_timer, at_us);
		return;
	}
	manager->newcomer = cpu;
	r = sd_event_add_time(manager->event, &manager->newcomer_timer, CLOCK_MONOTONIC, at_us, 0,
			      on_newcomers, manager);
	if (r < 0)
		log_warning("cannot wait for new CPUs: %s", strerror(-r));
}

static void verify_domain_of(struct manager *manager, uint32_t cpu)
{
	uint32_t domain = TOPOLOGY_NO_DOMAIN;

	if (cpu < manager->topology->n_cpus)
		domain = manager->topology->cpu_domain[cpu];
	if (domain == TOPOLOGY_NO_DOMAIN) {
		meet_newcomer(manager, cpu);
		return;
	}
	actuator_domain_forget_request(&manager->domains[domain].actuator);
	frequency_forget(manager->frequency, cpu);
	domains_verify(manager, domain);
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
	placing_update_cpus(manager);
	manager_round(manager);
	return 0;
}

static int on_groups(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct manager *manager = userdata;

	if (grouping_take_written(manager))
		rule_tracking_scan(manager);
	manager_round(manager);
	return 0;
}

static int on_turbo(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	struct manager *manager = userdata;

	freq_invariance_choose_references(manager);
	for (uint32_t i = 0; i < manager->n_domains; i++)
		opps_follow(manager, i);
	manager_round(manager);
	return 0;
}

/* Listens to each of the switches of turbo that exists, mostly one. */
static void listen_for_turbo(struct manager *manager)
{
	for (const char *const *path = reference_turbo_switches; *path; path++) {
		int r = sd_event_add_inotify(manager->event, NULL, *path, IN_CLOSE_WRITE, on_turbo,
					     manager);

		if (r < 0 && r != -ENOENT)
			log_warning("cannot watch %s for turbo being switched: %s", *path,
				    strerror(-r));
	}
}

static int on_reload_signal(sd_event_source *source, const struct signalfd_siginfo *info,
			    void *userdata)
{
	_cleanup_free_ char *message = NULL;

	sd_notify(0, "RELOADING=1");
	manager_reload(userdata, NULL, NULL, &message);
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

/* Blocks signals first, so that none can end the daemon half way. */
int events_open(struct manager *manager)
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
		log_warning("cannot watch for CPUs that go offline: %s",
			    strerror(-manager->hotplug_fd));
	return 0;
}

/* These sources are first: a take-over or an offline domain must be known before the next write. */
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

int events_listen(struct manager *manager)
{
	sd_event *event = manager->event;
	int r;

	r = sd_event_add_io(event, NULL, tracer_fd(manager->tracer), EPOLLIN, on_records, manager);
	if (r >= 0)
		r = add_urgent(manager, actuator_watch_fd(manager->watch), on_touched);
	if (r >= 0 && manager->hotplug_fd >= 0)
		r = add_urgent(manager, manager->hotplug_fd, on_hotplug);
	if (r >= 0)
		r = sd_event_add_io(event, NULL, uclamp_groups_fd(manager->groups), EPOLLIN,
				    on_groups, manager);
	if (r >= 0)
		r = sd_event_add_time(event, &manager->timer, CLOCK_MONOTONIC, 0, TIMER_ACCURACY_US,
				      on_timer, manager);
	if (r >= 0)
		r = sd_event_set_watchdog(event, true);
	if (r >= 0 && manager->n_domains)
		listen_for_turbo(manager);
	return r < 0 ? r : 0;
}
