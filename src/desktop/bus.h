/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The system bus, on which any user may send messages to this program. */

#include <stdbool.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

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
