// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "ctl/commands.h"
#include "ctl/show.h"

static void show_metrics(const json_t *reply)
{
	fputs(field_text(reply, "text") ?: "", stdout);
}

enum ctl_exit command_metrics(struct ctl *ctl)
{
	const char *format = ctl_value(ctl, "format");
	enum ctl_exit code;
	json_t *reply;

	code = ctl_call(ctl, "io.wakegov.Metrics", json_pack("{ss*}", "format", format), &reply);
	if (code != CTL_OK)
		return code;
	code = ctl_print(ctl, reply, show_metrics);
	json_decref(reply);
	return code;
}
