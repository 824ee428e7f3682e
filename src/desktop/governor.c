// SPDX-License-Identifier: GPL-2.0-only
/* Calls wakegovd. */
#include "desktop/desktop.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"
#include "varlink/caller.h"

#define TIMEOUT_NS (5 * NS_PER_S)

/* Takes the profile in force from a reply. Returns 0 or -EREMOTEIO, logged. */
static int take_active(struct desktop *desktop, const json_t *reply)
{
	const char *active = NULL, *error = NULL;

	if (json_unpack((json_t *)reply, "{s:{s:s}}", "parameters", "active", &active) < 0) {
		json_unpack((json_t *)reply, "{s:s}", "error", &error);
		log_error("wakegovd refused: %s", error ?: "its reply names no profile");
		return -EREMOTEIO;
	}
	if (strcmp(active, desktop->active) != 0) {
		snprintf(desktop->active, sizeof(desktop->active), "%s", active);
		desktop_signal_active(desktop);
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
	r = take_active(desktop, reply);
	json_decref(reply);
	return r;
}

int governor_refresh(struct desktop *desktop)
{
	return call(desktop, "io.wakegov.Profiles", NULL);
}

int governor_choose(struct desktop *desktop, const char *ours)
{
	return call(desktop, "io.wakegov.ChooseProfile", json_pack("{ss}", "profile", ours));
}

/* A hold has one reply. */
static int take_held(void *context, const json_t *reply)
{
	return take_active(context, reply) ?: 1;
}

/* A hold lasts as long as its connection, so it ends with this program too. */
int governor_hold(struct desktop *desktop, const char *ours)
{
	int r;

	close_fdp(&desktop->hold_fd);
	desktop->hold_fd = -1;
	if (!ours)
		return governor_refresh(desktop);
	desktop->hold_fd = caller_open(desktop->socket, caller_deadline(TIMEOUT_NS));
	if (desktop->hold_fd < 0)
		return log_unreachable(desktop, desktop->hold_fd);
	r = caller_stream(desktop->hold_fd, "io.wakegov.HoldProfile",
			  json_pack("{ss}", "profile", ours), take_held, desktop);
	return r < 0 ? r : 0;
}

/* The notes are dropped: whatever changed, the profile in force is fetched. */
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
	governor_refresh(desktop);
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
	return r < 0 ? r : governor_refresh(desktop);
}
