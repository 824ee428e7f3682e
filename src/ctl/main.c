// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl: asks wakegovd over its socket. See wakegovctl(1). */
#include <locale.h>

#include "ctl/arguments.h"
#include "ctl/commands.h"
#include "varlink/path.h"

#define TIMEOUT_DEFAULT_NS 10000000000ULL

static enum ctl_exit run(struct ctl *ctl)
{
	if (ctl->command->run)
		return ctl->command->run(ctl);
	return ctl_ask(ctl, ctl->command->method, NULL, ctl->command->show);
}

int main(int argc, char **argv)
{
	struct ctl ctl = {
		.commands = ctl_commands,
		.path = QUERY_SOCKET_PATH,
		.timeout_ns = TIMEOUT_DEFAULT_NS,
	};
	int r;

	setlocale(LC_CTYPE, "");
	r = arguments_parse(argc, argv, &ctl);
	if (r < 0)
		return -r;
	return r ? (int)run(&ctl) : (int)ctl_flush();
}
