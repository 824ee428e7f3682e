// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of commands, and those that are one call and a few words. A new one is a row here,
 * its name, help and options in words.json, and a paragraph in wakegovctl(1).
 */
#include "ctl/command.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/text.h"

static enum ctl_exit command_domains(struct ctl *ctl)
{
	return ctl_ask(ctl, "io.wakegov.Domains", NULL, "domains", status_add_domains);
}

static enum ctl_exit command_tasks(struct ctl *ctl)
{
	return ctl_ask(ctl, "io.wakegov.Tasks", NULL, "tasks", NULL);
}

static enum ctl_exit command_devices(struct ctl *ctl)
{
	return ctl_ask(ctl, "io.wakegov.Devices", NULL, "devices", NULL);
}

/* What is not governed is not traced for the sake of metrics. */
static enum ctl_exit command_metrics(struct ctl *ctl)
{
	const char *format = ctl_value(ctl, "format") ?: "openmetrics";
	json_auto_t *status = NULL, *stats = NULL, *replies = NULL;
	enum ctl_exit code;

	if (strcmp(format, "openmetrics") != 0 && strcmp(format, "prometheus") != 0)
		return ctl_misuse(ctl, "--format %s: expected openmetrics or prometheus", format);
	code = ctl_call(ctl, "io.wakegov.Status", json_pack("{sb}", "untraced", 1), &status);
	if (code == CTL_OK)
		code = ctl_call(ctl, "io.wakegov.Stats", NULL, &stats);
	replies = json_pack("{ss sO* sO*}", "format", format, "status", status, "stats", stats);
	return code == CTL_OK ? ctl_print(ctl, replies, "metrics", NULL) : code;
}

static enum ctl_exit command_adopt(struct ctl *ctl)
{
	const char *domain = ctl->n_arguments ? ctl->arguments[0] : NULL;

	if (ctl->n_arguments > 1)
		return ctl_misuse(ctl, "adopt takes one domain, or none for all");
	return ctl_ask(ctl, "io.wakegov.Adopt",
		       json_pack("{so*}", "domain", domain ? format_json(domain) : NULL), "adopted",
		       NULL);
}

/* Whether the daemon has it, or does not say. If not, prints that, with a similar name. */
static bool has_profile(const struct ctl *ctl, const char *name)
{
	json_auto_t *reply = NULL;
	const json_t *profile;
	const char *closest = NULL;
	size_t i;

	ctl_try(ctl, "io.wakegov.Profiles", NULL, &reply);
	json_array_foreach(json_object_get(reply, "profiles"), i, profile) {
		if (field_is_word(profile, "name", name))
			return true;
		suggest_closest(name, field_text(profile, "name") ?: "", &closest);
	}
	if (closest)
		complain("the policy has no profile '%s'. Did you mean '%s'?", name, closest);
	return !closest;
}

static enum ctl_exit command_profile(struct ctl *ctl)
{
	const char *name = ctl->n_arguments ? ctl->arguments[0] : NULL;

	if (ctl->n_arguments > 1)
		return ctl_misuse(ctl, "profile takes one profile, or auto");
	if (!name)
		return ctl_ask(ctl, "io.wakegov.Profiles", NULL, "profiles", NULL);
	if (strcmp(name, "auto") != 0 && !has_profile(ctl, name))
		return CTL_REFUSED;
	return ctl_ask(
		ctl, "io.wakegov.ChooseProfile",
		json_pack("{so*}", "profile", strcmp(name, "auto") != 0 ? format_json(name) : NULL),
		"profile", NULL);
}

/* For the unit, whose journal has what the daemon logs of it. */
static enum ctl_exit command_reload(struct ctl *ctl)
{
	if (!ctl_value(ctl, "quiet"))
		return ctl_ask(ctl, "io.wakegov.Reload", NULL, "reload", NULL);
	ctl->logged_error = "io.wakegov.PolicyInvalid";
	return ctl_call(ctl, "io.wakegov.Reload", NULL, NULL);
}

#ifndef HAVE_NCURSES
enum ctl_exit command_top(struct ctl *ctl)
{
	complain("this wakegovctl was built without ncurses, which the live view needs. Try: "
		 "watch wakegovctl status; wakegovctl monitor");
	return CTL_REFUSED;
}
#endif

static const struct {
	const char *name;
	enum ctl_exit (*run)(struct ctl *ctl);
} functions[] = {
	{ "adopt", command_adopt },
	{ "benefit", command_benefit },
	{ "complete", command_complete },
	{ "decisions", command_decisions },
	{ "devices", command_devices },
	{ "doctor", command_doctor },
	{ "domains", command_domains },
	{ "explain", command_explain },
	{ "hint", command_hint },
	{ "import", command_import },
	{ "measure-power", command_measure_power },
	{ "metrics", command_metrics },
	{ "monitor", command_monitor },
	{ "override", command_override },
	{ "profile", command_profile },
	{ "record", command_record },
	{ "reload", command_reload },
	{ "replay", command_replay },
	{ "report", command_report },
	{ "rules", command_rules },
	{ "run", command_run },
	{ "stats", command_stats },
	{ "status", command_status },
	{ "tasks", command_tasks },
	{ "top", command_top },
};

enum ctl_exit ctl_run(struct ctl *ctl)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(functions) && strcmp(functions[i].name, ctl_name(ctl)) != 0)
		i++;
	assert(i < ARRAY_SIZE(functions));
	return functions[i].run(ctl);
}
