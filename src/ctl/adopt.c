// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl adopt: takes back domains that were left to another program. */
#include <inttypes.h>
#include <stdio.h>

#include "ctl/commands.h"
#include "ctl/format.h"
#include "ctl/show.h"

static void show_adopted(const json_t *reply)
{
	uint64_t adopted = field_number(reply, "adopted");

	if (adopted)
		printf("%" PRIu64 " domain%s adopted\n", adopted, adopted == 1 ? "" : "s");
	else
		puts("nothing to adopt: no such domain is left to another program");
}

enum ctl_exit command_adopt(struct ctl *ctl)
{
	json_t *parameters = json_object();

	if (ctl->n_arguments > 1) {
		json_decref(parameters);
		return ctl_misuse(ctl, "adopt takes one domain, or none for all");
	}
	if (ctl->n_arguments)
		json_object_set_new(parameters, "domain", format_json(ctl->arguments[0]));
	return ctl_ask(ctl, "io.wakegov.Adopt", parameters, show_adopted);
}
