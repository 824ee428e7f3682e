/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * wakegov-desktop: the D-Bus interface of power-profiles-daemon, by which desktops switch, for the
 * profiles of wakegovd. What it knows.
 */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#define DESKTOP_HOLDS_MAX    64
#define DESKTOP_PROFILE_SIZE 32

/* The three that the interface knows, by its names and by ours. */
#define DESKTOP_PROFILES 3
extern const struct desktop_profile {
	const char *theirs;
	const char *ours;
} desktop_profiles[DESKTOP_PROFILES];

/* A profile that a program on the bus holds, for as long as its connection is there. */
struct desktop_hold {
	struct desktop *desktop;
	uint32_t cookie;     /* 0: none */
	const char *profile; /* by its name on the bus */
	char *reason;
	char *application;
	sd_bus_track *client;
};

struct desktop {
	sd_event *event;
	sd_bus *bus;
	const char *socket;
	int monitor_fd;
	int hold_fd;			   /* negative: nothing is held */
	char active[DESKTOP_PROFILE_SIZE]; /* wakegovd's name of it */
	struct desktop_hold holds[DESKTOP_HOLDS_MAX];
	uint32_t last_cookie;
};

/* By its name on the bus. NULL: there is none. */
const struct desktop_profile *desktop_find(const char *theirs);

/* The name on the bus of what holds: one that the bus does not know is a balanced one. */
const char *desktop_active(const struct desktop *desktop);
