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

	return ctl_ask(ctl, "io.wakegov.Metrics", json_pack("{ss*}", "format", format),
		       show_metrics);
}
