// SPDX-License-Identifier: GPL-2.0-only
#include "desktop/authority.h"

#include <errno.h>
#include <stdbool.h>

#define ACTION "io.wakegov.switch-profile"

static bool is_root(sd_bus_message *call)
{
	sd_bus_creds *credentials = NULL;
	uid_t uid = (uid_t)-1;

	if (sd_bus_query_sender_creds(call, SD_BUS_CREDS_EUID, &credentials) >= 0)
		sd_bus_creds_get_euid(credentials, &uid);
	sd_bus_creds_unref(credentials);
	return uid == 0;
}

/* False too where there is no polkit. */
static bool polkit_lets(sd_bus_message *call)
{
	sd_bus_message *reply = NULL;
	int authorized = false;
	int r = sd_bus_call_method(sd_bus_message_get_bus(call), "org.freedesktop.PolicyKit1",
				   "/org/freedesktop/PolicyKit1/Authority",
				   "org.freedesktop.PolicyKit1.Authority", "CheckAuthorization",
				   NULL, &reply, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name",
				   "s", sd_bus_message_get_sender(call), ACTION, 0, 0, "");

	if (r >= 0)
		r = sd_bus_message_enter_container(reply, 'r', "bba{ss}");
	if (r > 0)
		r = sd_bus_message_read(reply, "b", &authorized);
	sd_bus_message_unref(reply);
	return r >= 0 && authorized;
}

int authority_check(sd_bus_message *call, sd_bus_error *error)
{
	if (is_root(call) || polkit_lets(call))
		return 0;
	return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED,
				"only root may do this, and whom polkit lets: " ACTION);
}
