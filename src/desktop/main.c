// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegov-desktop: the desktop's power switch chooses wakegov's profile. The switch belongs to
 * power-profiles-daemon or to TuneD's tuned-ppd, which serve the same D-Bus interface under two
 * names. After each signal this asks the name's owner for its profile. It ignores the content of
 * the signal, since any user may send one.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/sysfs.h"
#include "shared/time.h"
#include "varlink/caller.h"

#define CALL_TIMEOUT_NS (5 * NS_PER_S)
#define PROPERTIES	"org.freedesktop.DBus.Properties"
#define PROFILE_SIZE	32

/* Follows the first one with an owner. A name is also the name of the interface. */
static const struct {
	const char *name;
	const char *path;
} services[] = {
	{ "org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles" },
	{ "net.hadess.PowerProfiles", "/net/hadess/PowerProfiles" },
};

struct desktop {
	sd_event *event;
	sd_bus *bus;
	sd_bus_slot *question;	     /* the call under way; NULL: none */
	size_t asked;		     /* the service that it is for */
	bool again;		     /* something changed since the call was sent */
	char followed[PROFILE_SIZE]; /* profile of the service that was last chosen; "": none */
};

/* Returns 0 or a negative errno, logged. */
static int read_reply(const json_t *reply)
{
	const char *error = NULL;

	json_unpack((json_t *)reply, "{s:s}", "error", &error);
	if (error)
		log_error("wakegovd refused the profile: %s", error);
	return error ? -EREMOTEIO : 0;
}

/* ours: wakegovd's name of a profile; NULL: the one whose condition is true. */
static int choose(const char *ours)
{
	uint64_t deadline_ns = caller_deadline(CALL_TIMEOUT_NS);
	_cleanup_close_ int fd = caller_open(QUERY_SOCKET_PATH, deadline_ns);
	json_t *reply;
	int r = fd;

	if (fd >= 0)
		r = caller_call(fd, "io.wakegov.ChooseProfile",
				ours ? json_pack("{ss}", "profile", ours) : NULL, deadline_ns,
				&reply);
	if (r < 0) {
		log_error("cannot ask wakegovd on " QUERY_SOCKET_PATH ": %s", strerror(-r));
		return r;
	}
	r = read_reply(reply);
	json_decref(reply);
	return r;
}

/*
 * Chooses the service's present profile; "": there is no service. An unchanged profile is not
 * chosen again, so that a choice by wakegovctl holds until the switch is used.
 */
static int follow(struct desktop *desktop, const char *theirs)
{
	static const char *const profiles[][2] = {
		{ "power-saver", "quiet" },
		{ "balanced", "balanced" },
		{ "performance", "performance" },
	};
	const char *ours = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++)
		if (!strcmp(theirs, profiles[i][0]))
			ours = profiles[i][1];
	if ((theirs[0] && !ours) || !strcmp(theirs, desktop->followed))
		return 0;
	snprintf(desktop->followed, sizeof(desktop->followed), "%s", theirs);
	return choose(ours);
}

static int request_profile(struct desktop *desktop, size_t service);

/* An error means that there is no service. A failure ends the program; systemd restarts it. */
static int on_profile(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	struct desktop *desktop = userdata;
	const char *theirs = "";
	int r;

	desktop->question = sd_bus_slot_unref(desktop->question);
	if (desktop->again)
		r = request_profile(desktop, 0);
	else if (!sd_bus_message_is_method_error(reply, NULL))
		r = sd_bus_message_read(reply, "v", "s", &theirs) < 0 ? 0 : follow(desktop, theirs);
	else if (desktop->asked + 1 < ARRAY_SIZE(services))
		r = request_profile(desktop, desktop->asked + 1);
	else
		r = follow(desktop, "");
	return r < 0 ? sd_event_exit(desktop->event, r) : 0;
}

/* Requests the profile, without starting a service for it. */
static int request_profile(struct desktop *desktop, size_t service)
{
	sd_bus_message *call = NULL;
	int r = sd_bus_message_new_method_call(desktop->bus, &call, services[service].name,
					       services[service].path, PROPERTIES, "Get");

	desktop->asked = service;
	desktop->again = false;
	if (r >= 0)
		r = sd_bus_message_append(call, "ss", services[service].name, "ActiveProfile");
	if (r >= 0)
		r = sd_bus_message_set_auto_start(call, false);
	if (r >= 0)
		r = sd_bus_call_async(desktop->bus, &desktop->question, call, on_profile, desktop,
				      0);
	sd_bus_message_unref(call);
	return r;
}

/* Any number of signals causes one call at a time. */
static int on_signal(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
	struct desktop *desktop = userdata;
	int r = 0;

	if (desktop->question)
		desktop->again = true;
	else
		r = request_profile(desktop, 0);
	return r < 0 ? sd_event_exit(desktop->event, r) : 0;
}

/* Subscribes to signals before the first request, so that no change is missed. */
static int watch(struct desktop *desktop)
{
	char owner[128];
	int r = sd_bus_open_system(&desktop->bus);

	if (r >= 0)
		r = sd_bus_set_exit_on_disconnect(desktop->bus, true);
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(services); i++) {
		snprintf(owner, sizeof(owner), "type='signal',member='NameOwnerChanged',arg0='%s'",
			 services[i].name);
		r = sd_bus_add_match_async(desktop->bus, NULL, owner, on_signal, NULL, desktop);
		if (r >= 0)
			r = sd_bus_match_signal_async(desktop->bus, NULL, NULL, services[i].path,
						      PROPERTIES, "PropertiesChanged", on_signal,
						      NULL, desktop);
	}
	if (r >= 0)
		r = request_profile(desktop, 0);
	if (r >= 0)
		r = sd_bus_attach_event(desktop->bus, desktop->event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		log_error("cannot use the system bus: %s", strerror(-r));
	return r;
}

int main(int argc, char *argv[])
{
	struct desktop desktop = { 0 };
	sigset_t mask;
	int r;

	if (argc > 1) {
		fprintf(stderr, "wakegov-desktop takes no arguments; see wakegov-desktop(8)\n");
		return 2;
	}
	r = sd_event_default(&desktop.event);
	/* Both end the loop. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	if (r >= 0 && sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		r = -errno;
	if (r >= 0)
		r = sd_event_add_signal(desktop.event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(desktop.event, NULL, SIGINT, NULL, NULL);
	if (r >= 0)
		r = watch(&desktop);
	if (r >= 0) {
		sd_notify(0, "READY=1");
		r = sd_event_loop(desktop.event);
	}
	sd_bus_slot_unref(desktop.question);
	sd_bus_flush_close_unref(desktop.bus);
	sd_event_unref(desktop.event);
	/* The loop returns EXIT_FAILURE when the bus ends. */
	return r ? EXIT_FAILURE : EXIT_SUCCESS;
}
