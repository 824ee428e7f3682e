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
#include "varlink/caller.h"

#define ACTION "io.wakegov.switch-profile" /* of polkit */

/*
 * Only root and those whom polkit lets, without a dialog, may switch. Returns 0, or a negative
 * errno with error set.
 */
static int check_authority(sd_bus_message *call, sd_bus_error *error)
{
	sd_bus_creds *credentials = NULL;
	sd_bus_message *reply = NULL;
	uid_t uid = (uid_t)-1;
	int authorized = false;
	int r;

	if (sd_bus_query_sender_creds(call, SD_BUS_CREDS_EUID, &credentials) >= 0)
		sd_bus_creds_get_euid(credentials, &uid);
	sd_bus_creds_unref(credentials);
	if (uid == 0)
		return 0;
	r = sd_bus_call_method(sd_bus_message_get_bus(call), "org.freedesktop.PolicyKit1",
			       "/org/freedesktop/PolicyKit1/Authority",
			       "org.freedesktop.PolicyKit1.Authority", "CheckAuthorization", NULL,
			       &reply, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s",
			       sd_bus_message_get_sender(call), ACTION, 0, 0, "");
	if (r >= 0)
		r = sd_bus_message_enter_container(reply, 'r', "bba{ss}");
	if (r > 0)
		r = sd_bus_message_read(reply, "b", &authorized);
	sd_bus_message_unref(reply);
	if (r >= 0 && authorized)
		return 0;
	return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED,
				"only root and users whom polkit allows this may do it: " ACTION);
}

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

static int set_active(sd_bus *bus, const char *path, const char *interface, const char *property,
		      sd_bus_message *value, void *userdata, sd_bus_error *error)
{
	const struct desktop_profile *profile;
	struct desktop *desktop = userdata;
	const char *name;
	int r = sd_bus_message_read(value, "s", &name);

	if (r < 0)
		return r;
	profile = desktop_find(name);
	if (!profile)
		return refuse_profile(error, name);
	r = check_authority(sd_bus_get_current_message(bus), error);
	if (r < 0)
		return r;
	holds_end(desktop);
	r = governor_choose(desktop, profile->ours);
	return r < 0 ? r : 1;
}

static int get_empty(sd_bus *bus, const char *path, const char *interface, const char *property,
		     sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	return sd_bus_message_append(reply, "s", "");
}

static int get_version(sd_bus *bus, const char *path, const char *interface, const char *property,
		       sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	return sd_bus_message_append(reply, "s", "wakegov " WAKEGOV_VERSION);
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

static int hold_profile(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const char *profile, *reason, *application;
	struct desktop *desktop = userdata;
	uint32_t cookie;
	int r = sd_bus_message_read(call, "sss", &profile, &reason, &application);

	if (r < 0)
		return r;
	/* As with power-profiles-daemon, the default profile cannot be held. */
	if (!desktop_find(profile) || !strcmp(profile, "balanced"))
		return refuse_profile(error, profile);
	r = check_authority(call, error);
	if (r < 0)
		return r;
	r = holds_add(desktop, call, profile, reason, application, &cookie);
	if (r == -ENOSPC)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "%d profiles are held already", DESKTOP_HOLDS_MAX);
	return r < 0 ? r : sd_bus_reply_method_return(call, "u", cookie);
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

/* Another program owns the name, and has chosen another profile: chooses the same. */
static int on_foreign_change(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
	struct desktop *desktop = userdata;
	const char *interface = sd_bus_message_get_interface(signal);
	const struct desktop_profile *profile;
	const char *whose, *property, *value, *own = NULL;

	sd_bus_get_unique_name(desktop->bus, &own);
	if (!interface || (own && !strcmp(sd_bus_message_get_sender(signal), own)) ||
	    sd_bus_message_read(signal, "s", &whose) < 0 ||
	    sd_bus_message_enter_container(signal, 'a', "{sv}") < 0)
		return 0;
	while (sd_bus_message_enter_container(signal, 'e', "sv") > 0) {
		if (sd_bus_message_read(signal, "s", &property) < 0)
			return 0;
		if (!strcmp(property, "ActiveProfile") &&
		    sd_bus_message_read(signal, "v", "s", &value) >= 0) {
			profile = desktop_find(value);
			if (profile)
				governor_choose(desktop, profile->ours);
		} else {
			sd_bus_message_skip(signal, "v");
		}
		sd_bus_message_exit_container(signal);
	}
	return 0;
}

static void follow(struct desktop *desktop, const struct desktop_name *name)
{
	const struct desktop_profile *profile;
	char *value = NULL;

	log_info("another program owns %s: its choices are followed", name->name);
	sd_bus_match_signal(desktop->bus, NULL, name->name, name->path,
			    "org.freedesktop.DBus.Properties", "PropertiesChanged",
			    on_foreign_change, desktop);
	if (sd_bus_get_property_string(desktop->bus, name->name, name->path, name->name,
				       "ActiveProfile", NULL, &value) < 0)
		return;
	profile = desktop_find(value);
	if (profile)
		governor_choose(desktop, profile->ours);
	free(value);
}

/* Serves the interface under both names. Returns 0 or a negative errno, logged. */
static int serve(struct desktop *desktop)
{
	int r = sd_bus_open_system(&desktop->bus);

	if (r >= 0)
		r = sd_bus_attach_event(desktop->bus, desktop->event, SD_EVENT_PRIORITY_NORMAL);
	for (size_t i = 0; r >= 0 && i < DESKTOP_NAMES; i++)
		r = sd_bus_add_object_vtable(desktop->bus, NULL, desktop_names[i].path,
					     desktop_names[i].name, vtable, desktop);
	for (size_t i = 0; r >= 0 && i < DESKTOP_NAMES; i++) {
		r = sd_bus_request_name(desktop->bus, desktop_names[i].name, SD_BUS_NAME_QUEUE);
		/* 0: queued, and ours when its present owner ends. */
		if (r == 0)
			follow(desktop, &desktop_names[i]);
	}
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
	sd_bus_flush_close_unref(desktop.bus);
	sd_event_unref(desktop.event);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
