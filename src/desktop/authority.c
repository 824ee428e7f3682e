// SPDX-License-Identifier: GPL-2.0-only
/* Who may switch: root, and those whom polkit allows it without a dialog. */
#include <errno.h>
#include <stdlib.h>

#include "desktop/desktop.h"

#define ACTION	    "io.wakegov.switch-profile" /* of polkit */
#define PENDING_MAX 64

/* A call that waits for an answer about its sender. */
struct pending {
	struct desktop *desktop;
	sd_bus_message *call;
	desktop_action_t allowed;
};

static void finish(struct pending *pending, int r, sd_bus_error *error)
{
	if (r < 0)
		sd_bus_reply_method_errno(pending->call, r, error);
	sd_bus_error_free(error);
	pending->desktop->n_pending--;
	sd_bus_message_unref(pending->call);
	free(pending);
}

static void allow(struct pending *pending)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_message_rewind(pending->call, true);

	if (r >= 0)
		r = pending->allowed(pending->desktop, pending->call, &error);
	finish(pending, r, &error);
}

static void refuse(struct pending *pending)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;

	sd_bus_error_set(&error, SD_BUS_ERROR_ACCESS_DENIED,
			 "only root and users whom polkit allows this may do it: " ACTION);
	finish(pending, -EACCES, &error);
}

static int on_polkit(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	int authorized = false;

	if (!sd_bus_message_is_method_error(reply, NULL) &&
	    sd_bus_message_enter_container(reply, 'r', "bba{ss}") > 0 &&
	    sd_bus_message_read(reply, "b", &authorized) >= 0 && authorized)
		allow(userdata);
	else
		refuse(userdata);
	return 0;
}

/* Root may also where there is no polkit. */
static int on_user(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	struct pending *pending = userdata;
	uint32_t uid = UINT32_MAX;

	if (!sd_bus_message_is_method_error(reply, NULL))
		sd_bus_message_read(reply, "u", &uid);
	if (uid == 0)
		allow(pending);
	else if (sd_bus_call_method_async(
			 pending->desktop->bus, NULL, "org.freedesktop.PolicyKit1",
			 "/org/freedesktop/PolicyKit1/Authority",
			 "org.freedesktop.PolicyKit1.Authority", "CheckAuthorization", on_polkit,
			 pending, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s",
			 sd_bus_message_get_sender(pending->call), ACTION, 0, 0, "") < 0)
		refuse(pending);
	return 0;
}

int authority_ask(struct desktop *desktop, sd_bus_message *call, desktop_action_t allowed,
		  sd_bus_error *error)
{
	struct pending *pending;
	int r;

	if (desktop->n_pending == PENDING_MAX)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "%d calls wait for polkit already", PENDING_MAX);
	pending = malloc(sizeof(*pending));
	if (!pending)
		return -ENOMEM;
	*pending = (struct pending){ desktop, sd_bus_message_ref(call), allowed };
	desktop->n_pending++;
	r = sd_bus_call_method_async(desktop->bus, NULL, "org.freedesktop.DBus",
				     "/org/freedesktop/DBus", "org.freedesktop.DBus",
				     "GetConnectionUnixUser", on_user, pending, "s",
				     sd_bus_message_get_sender(call));
	if (r < 0)
		refuse(pending);
	return 1;
}
