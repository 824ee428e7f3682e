/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * wakegov-desktop: the D-Bus interface of power-profiles-daemon, by which desktops switch profiles,
 * for the profiles of wakegovd. It has two names: org.freedesktop.UPower.PowerProfiles, and the
 * former net.hadess.PowerProfiles. While another program, such as power-profiles-daemon, owns a
 * name, its choice is followed; the name is taken when that program ends.
 */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

/* bus.c: the system bus, on which any user may send messages to this program. */

/* Larger messages are read past; those of the interface are much smaller. */
#define BUS_MESSAGE_MAX 16384

/*
 * Connects to the system bus. sd-bus would read a message of up to 128 MiB as a whole before
 * anything could refuse it: a thread reads the socket, and passes on what is no larger than
 * BUS_MESSAGE_MAX. sd_bus_call() must not be used once others may send: it queues whatever comes
 * before the reply. The loop ends when the bus does. Returns 0 or a negative errno.
 */
int bus_open(sd_event *event, sd_bus **ret);

/* Follows who owns a name; all zero: none is followed. */
struct bus_watch {
	/* owner: the unique name of the present owner, "": none. May end the watch. */
	void (*changed)(void *userdata, const char *owner);
	void *userdata;
	sd_bus_slot *match, *question;
};

/* Reports the present owner, and then each change. Returns 0 or a negative errno. */
int bus_watch_start(struct bus_watch *watch, sd_bus *bus, const char *name);
void bus_watch_end(struct bus_watch *watch);

/* Whether the message is from this unique name, which the bus writes into each message. */
bool bus_is_from(sd_bus_message *message, const char *sender);

#define DESKTOP_HOLDS_MAX    64
#define DESKTOP_PROFILE_SIZE 32

/* The profiles of the interface, by its names and by ours. */
#define DESKTOP_PROFILES 3
extern const struct desktop_profile {
	const char *theirs;
	const char *ours;
} desktop_profiles[DESKTOP_PROFILES];

/* A profile that a program on the bus holds; the hold ends with its connection. */
struct desktop_hold {
	struct desktop *desktop;
	uint32_t cookie;     /* 0: none */
	const char *profile; /* its name on the bus */
	char *reason;
	char *application;
	char *client; /* its unique name */
	struct bus_watch watch;
};

#define DESKTOP_NAMES 2
extern const struct desktop_name {
	const char *name; /* of the service and of its interface */
	const char *path;
} desktop_names[DESKTOP_NAMES];

#define DESKTOP_OWNER_SIZE 256

struct desktop_follow {
	struct desktop *desktop;
	const struct desktop_name *name;
	struct bus_watch watch;
	char owner[DESKTOP_OWNER_SIZE]; /* the program that is followed; "": none */
};

struct desktop {
	sd_event *event;
	sd_bus *bus;
	const char *socket;
	int monitor_fd;
	int hold_fd;			   /* negative: nothing is held */
	char active[DESKTOP_PROFILE_SIZE]; /* the profile in force, wakegovd's name */
	struct desktop_hold holds[DESKTOP_HOLDS_MAX];
	uint32_t last_cookie;
	struct desktop_follow follows[DESKTOP_NAMES];
	int n_pending; /* calls that wait for polkit */
};

/* The profile with this name on the bus; NULL: there is none. */
const struct desktop_profile *desktop_find(const char *theirs);

/* The profile in force by its name on the bus; "balanced" for one that the bus does not know. */
const char *desktop_active(const struct desktop *desktop);

/* Returns a negative errno, with error set or not, if it has not replied to the call. */
typedef int (*desktop_action_t)(struct desktop *desktop, sd_bus_message *call, sd_bus_error *error);

/*
 * Does what is allowed, or replies to the call with a refusal, once it is known who sends it.
 * Returns 1, or a negative errno, with error set, if too much waits already.
 */
int authority_ask(struct desktop *desktop, sd_bus_message *call, desktop_action_t allowed,
		  sd_bus_error *error);

/* Follows other owners of the names, while there are any. Returns 0 or a negative errno. */
int follow_start(struct desktop *desktop);
void follow_end(struct desktop *desktop);

/*
 * Calls to wakegovd. Failures are logged, and returned as a negative errno. governor_listen() also
 * listens for its changes, and ends the event loop when wakegovd ends. Both fetch the profile in
 * force, which is signalled on the bus when it has changed.
 */
int governor_listen(struct desktop *desktop);
/* ours: wakegovd's name of a profile. */
int governor_choose(struct desktop *desktop, const char *ours);

/*
 * Holds a profile, by its name on the bus, for the sender of the call. Returns 0 and *ret_cookie;
 * -ENOSPC: DESKTOP_HOLDS_MAX are held; or another negative errno.
 */
int holds_add(struct desktop *desktop, sd_bus_message *call, const char *profile,
	      const char *reason, const char *application, uint32_t *ret_cookie);
/* Returns 0, or -ENOENT: the sender has no hold with this cookie. */
int holds_release(struct desktop *desktop, sd_bus_message *call, uint32_t cookie);
/* Ends all holds and informs their owners: another profile was chosen. */
void holds_end(struct desktop *desktop);
