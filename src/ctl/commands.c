// SPDX-License-Identifier: GPL-2.0-only
/* The table of commands. A new one is a row here, a paragraph in wakegovctl(1), a completion. */
#include "ctl/command.h"
#include "ctl/show.h"

const struct ctl_command ctl_commands[] = {
	{
		.name = "status",
		.help = "the daemon, its domains, its own cost",
		.method = "io.wakegov.Status",
		.show = show_status,
	},
	{
		.name = "domains",
		.help = "what every domain runs at, and why",
		.method = "io.wakegov.Domains",
		.show = show_domains,
	},
	{
		.name = "tasks",
		.help = "the tasks that do I/O, and what a boost brings",
		.method = "io.wakegov.Tasks",
		.show = show_tasks,
	},
	{
		.name = "devices",
		.help = "the disks, and whether boosts pay there",
		.method = "io.wakegov.Devices",
		.show = show_devices,
	},
	{
		.name = "decisions",
		.help = "the last decisions, newest last",
		.method = "io.wakegov.Decisions",
		.show = show_decisions,
	},
	{
		.name = "reload",
		.help = "read the policy again (root only)",
		.method = "io.wakegov.Reload",
		.show = show_reload,
	},
	{ .name = NULL },
};
