// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/help.h"

#include "ctl/commands.h"

#include <stdio.h>

#include "varlink/path.h"

static const char general[] = "  --json             the reply as JSON, for machines\n"
			      "  --socket PATH      the daemon's socket (" QUERY_SOCKET_PATH ")\n"
			      "  --timeout SECONDS  give up after that long (10)\n"
			      "  --help, --version\n";

static const char exit_codes[] = "\n"
				 "Exit codes:\n"
				 "  0  done\n"
				 "  1  the daemon refused, or the call failed\n"
				 "  2  wrong usage\n"
				 "  3  the daemon is not running, or may not be reached\n"
				 "  4  the connection was lost, or timed out\n"
				 "  5  a replay decides something else than was recorded\n";

static void print_all(void)
{
	puts("Usage: wakegovctl [OPTION…] COMMAND [ARGUMENT…]\n"
	     "Asks wakegovd, the CPU frequency governor, what it does and why, and steers it.\n"
	     "\n"
	     "Commands (COMMAND --help says more):");
	for (const struct ctl_command *c = ctl_commands; c->name; c++)
		if (c->help)
			printf("  %-10s  %s\n", c->name, c->help);
	printf("\nOptions:\n%s%s", general, exit_codes);
}

static void print_option(const struct ctl_option *option)
{
	const char letter[] = { '-', option->letter, ',', ' ', '\0' };
	char name[64];

	snprintf(name, sizeof(name), "%s--%s%s%s", option->letter ? letter : "", option->name,
		 option->value ? " " : "", option->value ? option->value : "");
	printf("  %-17s  %s\n", name, option->help);
}

static void print_one(const struct ctl_command *command)
{
	printf("Usage: wakegovctl %s%s%s%s\n%s\n\nOptions:\n", command->name,
	       command->options[0].name ? " [OPTION…]" : "", command->arguments ? " " : "",
	       command->arguments ? command->arguments : "", command->help);
	for (int i = 0; i < CTL_OPTIONS_MAX && command->options[i].name; i++)
		print_option(&command->options[i]);
	fputs(general, stdout);
}

void help_print(const struct ctl_command *command)
{
	if (command)
		print_one(command);
	else
		print_all();
}
