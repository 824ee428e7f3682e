// SPDX-License-Identifier: GPL-2.0-only
/* The profiles: what wakegovd has in force, and what programs on the bus hold. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "desktop/desktop.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"
#include "varlink/caller.h"

#define TIMEOUT_NS (5 * NS_PER_S)

/* In the order of the interface. */
const struct desktop_profile desktop_profiles[DESKTOP_PROFILES] = {
	{ "power-saver", "quiet" },
	{ "balanced", "balanced" },
	{ "performance", "performance" },
};

const struct desktop_profile *desktop_find(const char *theirs)
{
	for (int i = 0; i < DESKTOP_PROFILES; i++)
		if (!strcmp(desktop_profiles[i].theirs, theirs))
			return &desktop_profiles[i];
	return NULL;
}

const char *desktop_active(const struct desktop *desktop)
{
	for (int i = 0; i < DESKTOP_PROFILES; i++)
		if (!strcmp(desktop_profiles[i].ours, desktop->active))
			return desktop_profiles[i].theirs;
	return "balanced";
}

const struct desktop_name desktop_names[DESKTOP_NAMES] = {
	{ "org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles" },
	{ "net.hadess.PowerProfiles", "/net/hadess/PowerProfiles" },
};

/* D-Bus signals, under both names. */
static void signal_change(struct desktop *desktop, const char *property)
{
	for (int i = 0; i < DESKTOP_NAMES; i++)
		sd_bus_emit_properties_changed(desktop->bus, desktop_names[i].path,
					       desktop_names[i].name, property, NULL);
}

static void signal_released(struct desktop *desktop, const char *client, uint32_t cookie)
{
	for (int i = 0; i < DESKTOP_NAMES; i++) {
		sd_bus_message *signal = NULL;
		int r = sd_bus_message_new_signal(desktop->bus, &signal, desktop_names[i].path,
						  desktop_names[i].name, "ProfileReleased");

		if (r >= 0)
			r = sd_bus_message_append(signal, "u", cookie);
		if (r >= 0)
			sd_bus_send_to(desktop->bus, signal, client, NULL);
		sd_bus_message_unref(signal);
	}
}

/* Reads the profile in force from a reply. Returns 0 or -EREMOTEIO, logged. */
static int on_active(struct desktop *desktop, const json_t *reply)
{
	const char *active = NULL, *error = NULL;

	if (json_unpack((json_t *)reply, "{s:{s:s}}", "parameters", "active", &active) < 0) {
		json_unpack((json_t *)reply, "{s:s}", "error", &error);
		log_error("wakegovd refused: %s", error ?: "its reply names no profile");
		return -EREMOTEIO;
	}
	if (strcmp(active, desktop->active) != 0) {
		snprintf(desktop->active, sizeof(desktop->active), "%s", active);
		signal_change(desktop, "ActiveProfile");
	}
	return 0;
}

static int log_unreachable(const struct desktop *desktop, int error)
{
	log_error("cannot ask wakegovd on %s: %s", desktop->socket, strerror(-error));
	return error;
}

static int call(struct desktop *desktop, const char *method, json_t *parameters)
{
	uint64_t deadline_ns = caller_deadline(TIMEOUT_NS);
	_cleanup_close_ int fd = caller_open(desktop->socket, deadline_ns);
	json_t *reply;
	int r = fd;

	if (fd < 0)
		json_decref(parameters);
	else
		r = caller_call(fd, method, parameters, deadline_ns, &reply);
	if (r < 0)
		return log_unreachable(desktop, r);
	r = on_active(desktop, reply);
	json_decref(reply);
	return r;
}

/* Fetches the profile in force. */
static int refresh(struct desktop *desktop)
{
	return call(desktop, "io.wakegov.Profiles", NULL);
}

int governor_choose(struct desktop *desktop, const char *ours)
{
	return call(desktop, "io.wakegov.ChooseProfile", json_pack("{ss}", "profile", ours));
}

/* A hold has one reply. */
static int on_held(void *context, const json_t *reply)
{
	return on_active(context, reply) ?: 1;
}

/* Reads and drops the events: whatever changed, the profile in force is fetched. */
static int on_change(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct desktop *desktop = userdata;
	char dropped[4096];
	ssize_t n;

	while ((n = recv(fd, dropped, sizeof(dropped), MSG_DONTWAIT)) > 0)
		;
	if (n == 0) {
		log_info("wakegovd has ended");
		return sd_event_exit(desktop->event, 0);
	}
	refresh(desktop);
	return 0;
}

int governor_listen(struct desktop *desktop)
{
	int r;

	desktop->monitor_fd = caller_open(desktop->socket, caller_deadline(TIMEOUT_NS));
	if (desktop->monitor_fd < 0)
		return log_unreachable(desktop, desktop->monitor_fd);
	r = caller_send(desktop->monitor_fd, "io.wakegov.Monitor",
			json_pack("{s[s]}", "kinds", "change"), true, caller_deadline(TIMEOUT_NS));
	if (r == 0)
		r = sd_event_add_io(desktop->event, NULL, desktop->monitor_fd, EPOLLIN, on_change,
				    desktop);
	return r < 0 ? r : refresh(desktop);
}

/*
 * Holds at wakegovd, instead of what was held before, the profile that saves most power of those
 * that are held on the bus, as power-profiles-daemon does. wakegovd's hold lasts as long as its
 * connection, so it ends with this program too.
 */
static int hold_strongest(struct desktop *desktop)
{
	const char *ours = NULL;
	int r;

	for (int i = 0; i < DESKTOP_PROFILES && !ours; i++)
		for (int j = 0; j < DESKTOP_HOLDS_MAX && !ours; j++)
			if (desktop->holds[j].cookie &&
			    !strcmp(desktop->holds[j].profile, desktop_profiles[i].theirs))
				ours = desktop_profiles[i].ours;
	close_fdp(&desktop->hold_fd);
	desktop->hold_fd = -1;
	if (!ours)
		return refresh(desktop);
	desktop->hold_fd = caller_open(desktop->socket, caller_deadline(TIMEOUT_NS));
	if (desktop->hold_fd < 0)
		return log_unreachable(desktop, desktop->hold_fd);
	r = caller_stream(desktop->hold_fd, "io.wakegov.HoldProfile",
			  json_pack("{ss}", "profile", ours), on_held, desktop);
	return r < 0 ? r : 0;
}

static void drop(struct desktop_hold *hold)
{
	bus_watch_end(&hold->watch);
	free(hold->client);
	free(hold->reason);
	free(hold->application);
	*hold = (struct desktop_hold){ 0 };
}

static void end_hold(struct desktop_hold *hold)
{
	struct desktop *desktop = hold->desktop;

	drop(hold);
	hold_strongest(desktop);
	signal_change(desktop, "ActiveProfileHolds");
}

static void on_client(void *userdata, const char *owner)
{
	if (!owner[0])
		end_hold(userdata);
}

int holds_add(struct desktop *desktop, sd_bus_message *call, const char *profile,
	      const char *reason, const char *application, uint32_t *ret_cookie)
{
	struct desktop_hold *hold = desktop->holds;
	int r;

	while (hold < desktop->holds + DESKTOP_HOLDS_MAX && hold->cookie)
		hold++;
	if (hold == desktop->holds + DESKTOP_HOLDS_MAX)
		return -ENOSPC;
	*hold = (struct desktop_hold){
		.desktop = desktop,
		.cookie = ++desktop->last_cookie,
		.profile = desktop_find(profile)->theirs,
		.reason = strdup(reason),
		.application = strdup(application),
		.client = strdup(sd_bus_message_get_sender(call)),
		.watch = { .changed = on_client, .userdata = hold },
	};
	r = hold->reason && hold->application && hold->client ? 0 : -ENOMEM;
	if (r == 0)
		r = bus_watch_start(&hold->watch, desktop->bus, hold->client);
	if (r < 0) {
		drop(hold);
		return r;
	}
	*ret_cookie = hold->cookie;
	r = hold_strongest(desktop);
	if (r < 0)
		drop(hold);
	else
		signal_change(desktop, "ActiveProfileHolds");
	return r;
}

int holds_release(struct desktop *desktop, sd_bus_message *call, uint32_t cookie)
{
	for (int i = 0; i < DESKTOP_HOLDS_MAX; i++) {
		struct desktop_hold *hold = &desktop->holds[i];

		if (!cookie || hold->cookie != cookie || !bus_is_from(call, hold->client))
			continue;
		end_hold(hold);
		return 0;
	}
	return -ENOENT;
}

void holds_end(struct desktop *desktop)
{
	for (int i = 0; i < DESKTOP_HOLDS_MAX; i++) {
		struct desktop_hold *hold = &desktop->holds[i];

		if (!hold->cookie)
			continue;
		signal_released(desktop, hold->client, hold->cookie);
		drop(hold);
	}
	if (desktop->hold_fd >= 0)
		hold_strongest(desktop);
	signal_change(desktop, "ActiveProfileHolds");
}
