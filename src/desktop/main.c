// SPDX-License-Identifier: GPL-2.0-only
/* wakegov-desktop, see its manual page: the program, and the interface on the bus. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "desktop/desktop.h"
#include "shared/log.h"
#include "shared/version.h"
#include "varlink/caller.h"

static int get_active(sd_bus *bus, const char *path, const char *interface, const char *property,
		      sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	return sd_bus_message_append(reply, "s", desktop_active(userdata));
}

static int refuse_profile(sd_bus_error *error, const char *profile)
{
	return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "no profile is called '%s'",
				 profile);
}

/* For what on_call() has left: profiles that there are not. */
static int set_active(sd_bus *bus, const char *path, const char *interface, const char *property,
		      sd_bus_message *value, void *userdata, sd_bus_error *error)
{
	const char *name;
	int r = sd_bus_message_read(value, "s", &name);

	return r < 0 ? r : refuse_profile(error, name);
}

/* Reads a call that sets a profile. Returns false for another one, or a profile that is none. */
static bool read_choice(sd_bus_message *call, const struct desktop_profile **ret)
{
	const char *interface, *property, *name;

	if (!sd_bus_message_is_method_call(call, "org.freedesktop.DBus.Properties", "Set") ||
	    sd_bus_message_read(call, "ssv", &interface, &property, "s", &name) < 0 ||
	    strcmp(property, "ActiveProfile") != 0)
		return false;
	*ret = desktop_find(name);
	return *ret;
}

static int choose_allowed(struct desktop *desktop, sd_bus_message *call, sd_bus_error *error)
{
	const struct desktop_profile *profile;
	int r;

	if (!read_choice(call, &profile))
		return -EINVAL;
	holds_end(desktop);
	r = governor_choose(desktop, profile->ours);
	return r < 0 ? r : sd_bus_reply_method_return(call, NULL);
}

/* Has each call first. sd-bus replies itself once a property's setter returns, so is not used. */
static int on_call(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const struct desktop_profile *profile;

	return read_choice(call, &profile) ? authority_ask(userdata, call, choose_allowed, error)
					   : 0;
}

static int get_empty(sd_bus *bus, const char *path, const char *interface, const char *property,
		     sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	return sd_bus_message_append(reply, "s", "");
}

static int get_version(sd_bus *bus, const char *path, const char *interface, const char *property,
		       sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	return sd_bus_message_append(reply, "s", wakegov_version);
}

static int get_actions(sd_bus *bus, const char *path, const char *interface, const char *property,
		       sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	return sd_bus_message_append(reply, "as", 0);
}

static int get_profiles(sd_bus *bus, const char *path, const char *interface, const char *property,
			sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	int r = sd_bus_message_open_container(reply, 'a', "a{sv}");

	for (int i = 0; r >= 0 && i < DESKTOP_PROFILES; i++)
		r = sd_bus_message_append(reply, "a{sv}", 2, "Profile", "s",
					  desktop_profiles[i].theirs, "Driver", "s", "wakegov");
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int get_holds(sd_bus *bus, const char *path, const char *interface, const char *property,
		     sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	const struct desktop *desktop = userdata;
	int r = sd_bus_message_open_container(reply, 'a', "a{sv}");

	for (int i = 0; r >= 0 && i < DESKTOP_HOLDS_MAX; i++) {
		const struct desktop_hold *hold = &desktop->holds[i];

		if (hold->cookie)
			r = sd_bus_message_append(reply, "a{sv}", 3, "ApplicationId", "s",
						  hold->application, "Profile", "s", hold->profile,
						  "Reason", "s", hold->reason);
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int hold_allowed(struct desktop *desktop, sd_bus_message *call, sd_bus_error *error)
{
	const char *profile, *reason, *application;
	uint32_t cookie;
	int r = sd_bus_message_read(call, "sss", &profile, &reason, &application);

	if (r >= 0)
		r = holds_add(desktop, call, profile, reason, application, &cookie);
	if (r == -ENOSPC)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "%d profiles are held already", DESKTOP_HOLDS_MAX);
	return r < 0 ? r : sd_bus_reply_method_return(call, "u", cookie);
}

static int hold_profile(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const char *profile, *reason, *application;
	int r = sd_bus_message_read(call, "sss", &profile, &reason, &application);

	if (r < 0)
		return r;
	/* As with power-profiles-daemon, the default profile cannot be held. */
	if (!desktop_find(profile) || !strcmp(profile, "balanced"))
		return refuse_profile(error, profile);
	return authority_ask(userdata, call, hold_allowed, error);
}

static int release_profile(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	uint32_t cookie;
	int r = sd_bus_message_read(call, "u", &cookie);

	if (r >= 0)
		r = holds_release(userdata, call, cookie);
	if (r == -ENOENT)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "you have no hold with the cookie %u", cookie);
	return r < 0 ? r : sd_bus_reply_method_return(call, NULL);
}

static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD_WITH_ARGS(
		"HoldProfile", SD_BUS_ARGS("s", profile, "s", reason, "s", application_id),
		SD_BUS_RESULT("u", cookie), hold_profile, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("ReleaseProfile", SD_BUS_ARGS("u", cookie), SD_BUS_NO_RESULT,
				release_profile, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_ARGS("ProfileReleased", SD_BUS_ARGS("u", cookie), 0),
	SD_BUS_WRITABLE_PROPERTY("ActiveProfile", "s", get_active, set_active, 0,
				 SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE | SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_PROPERTY("PerformanceInhibited", "s", get_empty, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("PerformanceDegraded", "s", get_empty, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Profiles", "aa{sv}", get_profiles, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Actions", "as", get_actions, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("ActiveProfileHolds", "aa{sv}", get_holds, 0,
			SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Version", "s", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_VTABLE_END,
};

/* Serves the interface under both names. Returns 0 or a negative errno, logged. */
static int serve(struct desktop *desktop)
{
	int r = bus_open(desktop->event, &desktop->bus);

	for (size_t i = 0; r >= 0 && i < DESKTOP_NAMES; i++) {
		r = sd_bus_add_object(desktop->bus, NULL, desktop_names[i].path, on_call, desktop);
		if (r >= 0)
			r = sd_bus_add_object_vtable(desktop->bus, NULL, desktop_names[i].path,
						     desktop_names[i].name, vtable, desktop);
	}
	/* A name that has an owner is ours when its owner ends. */
	for (size_t i = 0; r >= 0 && i < DESKTOP_NAMES; i++)
		r = sd_bus_request_name(desktop->bus, desktop_names[i].name, SD_BUS_NAME_QUEUE);
	if (r >= 0)
		r = follow_start(desktop);
	if (r < 0)
		log_error("cannot serve the system bus: %s", strerror(-r));
	return r < 0 ? r : 0;
}

int main(int argc, char *argv[])
{
	struct desktop desktop = { .socket = QUERY_SOCKET_PATH, .monitor_fd = -1, .hold_fd = -1 };
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
		r = serve(&desktop);
	if (r >= 0)
		r = governor_listen(&desktop);
	if (r >= 0) {
		sd_notify(0, "READY=1");
		r = sd_event_loop(desktop.event);
	}
	follow_end(&desktop);
	sd_bus_flush_close_unref(desktop.bus);
	sd_event_unref(desktop.event);
	/* The loop returns EXIT_FAILURE when the bus ends. */
	return r ? EXIT_FAILURE : EXIT_SUCCESS;
}
