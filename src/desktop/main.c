// SPDX-License-Identifier: GPL-2.0-only
/* wakegov-desktop: see its manual page. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "desktop/desktop.h"
#include "varlink/caller.h"

static int end_by_signals(sd_event *event)
{
	sigset_t mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return -errno;
	r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	return r < 0 ? r : sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
}

int main(int argc, char *argv[])
{
	struct desktop desktop = { .socket = QUERY_SOCKET_PATH, .monitor_fd = -1, .hold_fd = -1 };
	int r;

	if (argc > 1) {
		fprintf(stderr, "wakegov-desktop takes no arguments; see wakegov-desktop(8)\n");
		return 2;
	}
	r = sd_event_default(&desktop.event);
	if (r >= 0)
		r = end_by_signals(desktop.event);
	if (r >= 0)
		r = bus_start(&desktop);
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
