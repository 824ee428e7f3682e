// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event loop and its sources: the ring of records, hot-plug, writes of other programs, turbo,
 * signals.
 */
#include "daemon/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "actuator/discovery.h"
#include "actuator/watch.h"
#include "daemon/domains.h"
#include "daemon/module.h"
#include "frequency/frequency.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"

static int on_touched(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct core *core = userdata;

	domains_verify_touched(core);
	round_run(core);
	return 0;
}

/* A CPU's domain is complete when its last CPU is online; a restart follows at most once in 3 s. */
#define SETTLE_US (2 * US_PER_S)

/*
 * Tables by CPU and domain have their size from the start, and the capabilities to load programs
 * are gone, so only a restart can add CPUs. What must outlast it is in files.
 */
static int on_changed(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct loop *loop = userdata;

	if (sd_notify(0, "STATUS=Starting again for changed CPUs") > 0) {
		log_notice("%s: wakegovd ends, for systemd to start it again", loop->change);
		return sd_event_exit(loop->core->event, -EAGAIN);
	}
	log_notice("%s: restart wakegovd to take it in", loop->change);
	return 0;
}

/* Several changes at a time cause one restart and one message. */
static void __attribute__((format(printf, 2, 3)))
plan_restart(struct loop *loop, const char *format, ...)
{
	uint64_t at_us = time_now_ns() / NS_PER_US + SETTLE_US;
	va_list arguments;
	int r;

	if (loop->change_timer) {
		sd_event_source_set_time(loop->change_timer, at_us);
		return;
	}
	va_start(arguments, format);
	vsnprintf(loop->change, sizeof(loop->change), format, arguments);
	va_end(arguments);
	r = sd_event_add_time(loop->core->event, &loop->change_timer, CLOCK_MONOTONIC, at_us, 0,
			      on_changed, loop);
	if (r < 0)
		log_warning("cannot wait for changed CPUs: %s", strerror(-r));
}

/*
 * A CPU that comes or goes may change the capacity of others: a core without its sibling has more,
 * and a faster kind of CPU makes all others less of the whole.
 */
static void verify_capacities(struct loop *loop)
{
	const struct topology *topology = loop->core->topology;

	for (uint32_t i = 0; i < topology->n_domains; i++) {
		const struct topology_domain *domain = &topology->domains[i];
		uint32_t capacity = cpufreq_discover_capacity(domain->first_cpu);

		if (capacity && capacity != domain->capacity)
			plan_restart(loop, "CPU %u has a capacity of %u, %u at the start",
				     domain->first_cpu, capacity, domain->capacity);
	}
}

static void verify_domain_of(struct loop *loop, uint32_t cpu)
{
	struct core *core = loop->core;
	uint32_t domain = topology_domain_of(core->topology, cpu);
	char path[64];

	if (domain == TOPOLOGY_NO_DOMAIN) {
		snprintf(path, sizeof(path), CONTROL_CPUS "/cpu%u/cpufreq", cpu);
		if (access(path, F_OK) == 0)
			plan_restart(loop, "CPU %u was not there at the start", cpu);
		return;
	}
	core->domains[domain].actuator.asked_khz = 0;
	frequency_forget(core->frequency, cpu);
	domains_verify(core, domain);
}

static int on_hotplug(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct loop *loop = userdata;
	struct core *core = loop->core;
	uint32_t cpu;
	bool online;
	int r;

	domains_follow_kernel(core);
	while ((r = hotplug_read(fd, &cpu, &online)) > 0)
		verify_domain_of(loop, cpu);
	if (r == -ENOBUFS)
		for (uint32_t i = 0; i < core->topology->n_cpus; i++)
			verify_domain_of(loop, i);
	verify_capacities(loop);
	modules_call(core, cpus_changed);
	round_run(core);
	return 0;
}

static int on_switch(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	struct core *core = userdata;

	domains_follow_kernel(core);
	freq_invariance_choose_references(core);
	for (uint32_t i = 0; i < core->n_domains; i++)
		opps_follow(core, i);
	round_run(core);
	return 0;
}

static int add_signals(sd_event *event)
{
	sigset_t mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP); /* the policy's */
	if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return -errno;
	r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
	return r;
}

/* Blocks signals first, so that none can end the daemon half way. */
int loop_open(struct loop *loop)
{
	struct core *core = loop->core;
	int r = sd_event_new(&core->event);

	if (r >= 0)
		r = add_signals(core->event);
	if (r >= 0)
		r = actuator_watch_new(&core->watch);
	if (r < 0) {
		log_error("cannot set up the event loop: %s", strerror(-r));
		return r;
	}
	loop->hotplug_fd = hotplug_open();
	if (loop->hotplug_fd < 0)
		log_warning("cannot watch for CPUs that go offline: %s",
			    strerror(-loop->hotplug_fd));
	return 0;
}

/* These sources are first: a take-over or an offline domain must be known before the next write. */
static int add_urgent(sd_event *event, int fd, sd_event_io_handler_t handler, void *userdata)
{
	sd_event_source *source;
	int r = sd_event_add_io(event, &source, fd, EPOLLIN, handler, userdata);

	if (r < 0)
		return r;
	sd_event_source_set_priority(source, SD_EVENT_PRIORITY_IMPORTANT);
	sd_event_source_set_floating(source, true);
	sd_event_source_unref(source);
	return 0;
}

int loop_listen(struct loop *loop)
{
	struct core *core = loop->core;
	sd_event *event = core->event;
	int r;

	r = add_urgent(event, actuator_watch_fd(core->watch), on_touched, core);
	if (r >= 0 && loop->hotplug_fd >= 0)
		r = add_urgent(event, loop->hotplug_fd, on_hotplug, loop);
	if (r >= 0)
		r = sd_event_set_watchdog(event, true);
	if (r < 0) {
		log_error("cannot listen for events: %s", strerror(-r));
		return r;
	}
	/* Mostly one of these exists. */
	for (const char *const *path = reference_switches; core->n_domains && *path; path++) {
		r = sd_event_add_inotify(event, NULL, *path, IN_CLOSE_WRITE, on_switch, core);
		if (r < 0 && r != -ENOENT)
			log_warning("cannot watch %s: %s", *path, strerror(-r));
	}
	return 0;
}

void loop_close(struct loop *loop)
{
	sd_event_source_unref(loop->change_timer);
	close_fdp(&loop->hotplug_fd);
}
