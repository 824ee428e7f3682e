// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl profile: shows the policy's profiles, or chooses one. */
#include <stdio.h>
#include <string.h>

#include "ctl/commands.h"
#include "ctl/format.h"
#include "ctl/show.h"
#include "ctl/table.h"
#include "shared/cleanup.h"

static void show_active(const json_t *reply)
{
	_cleanup_free_ char *active = format_clean(field_text(reply, "active"));
	_cleanup_free_ char *why = format_clean(field_text(reply, "why"));

	printf("%s holds: %s\n", active, why);
}

static void show_profiles(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "PROFILE", TABLE_LEFT, cell_text, "name" },
		{ "WHEN", TABLE_LEFT, cell_text, "when" },
	};

	show_active(reply);
	putchar('\n');
	table_print(TABLE(columns), json_object_get(reply, "profiles"), stdout);
}

enum ctl_exit command_profile(struct ctl *ctl)
{
	const char *name = ctl->n_arguments ? ctl->arguments[0] : NULL;
	json_t *parameters;

	if (ctl->n_arguments > 1)
		return ctl_misuse(ctl, "profile takes one profile, or auto");
	if (!name)
		return ctl_ask(ctl, "io.wakegov.Profiles", NULL, show_profiles);
	parameters = json_object();
	if (strcmp(name, "auto") != 0)
		json_object_set_new(parameters, "profile", format_json(name));
	return ctl_ask(ctl, "io.wakegov.ChooseProfile", parameters, show_active);
}
