// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of commands, and those that are one call and a few words. A new one is a row here and a
 * paragraph in wakegovctl(1).
 */
#include "ctl/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/text.h"

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

const struct ctl_command ctl_commands[] = {
	{
		.name = "status",
		.help = "the daemon, its domains, its own cost; turbo, heat and power",
		.run = command_status,
		.options = { { "programs", NULL, "also all BPF programs, what each is for and what it saw" } },
	},
	{
		.name = "domains",
		.help = "the frequency of every domain, and why",
		.method = "io.wakegov.Domains",
		.view = "domains",
		.add = status_add_domains,
	},
	{
		.name = "tasks",
		.help = "the tasks that do I/O, and what a boost gains",
		.method = "io.wakegov.Tasks",
		.view = "tasks",
	},
	{
		.name = "devices",
		.help = "the disks, and whether boosts pay there",
		.method = "io.wakegov.Devices",
		.view = "devices",
	},
	{
		.name = "decisions",
		.help = "the last decisions, newest last",
		.run = command_decisions,
		.arguments = "[DOMAIN]",
		.options = { { "lines", "N", "only the newest N", 'n' },
			     { "since", "TIME", "only since 14:03, '2026-11-20 14:03', or the last 1h30m, 5d" } },
	},
	{
		.name = "rules",
		.help = "the policy's rules and their tasks; or which rules match a task, and why",
		.run = command_rules,
		.arguments = "[RULE | PID]",
	},
	{
		.name = "explain",
		.help = "why a domain, or that of a CPU or a task, runs at its frequency",
		.run = command_explain,
		.arguments = "[policyN | cpuN | PID]",
		.options = { { "at", "TIME", "at a past time: 14:03, '2026-11-20 14:03:07', or 5d (5 days ago)" } },
	},
	{
		.name = "top",
		.help = "a live view: domains, tasks, devices; ? shows its keys",
		.run = command_top,
		.options = { { "delay", "TIME", "time between updates: 500ms, 2s; default 1s" } },
	},
	{
		.name = "monitor",
		.help = "a line for each event, as it happens",
		.run = command_monitor,
		.options = {
			{ "kinds", "LIST", "only these kinds: decision,boost,yield,error,change" },
			{ "domain", "DOMAIN", "only of this domain" },
			{ "pid", "PID", "only of this thread" },
			{ "count", "N", "end after N events" },
		},
	},
	{
		.name = "override",
		.help = "limit domains, a task or a rule for a while, whatever the policy says (root)",
		.run = command_override,
		.arguments = "DOMAIN | cpuN | all | PID | rule:NAME | list | cancel ID | cancel all",
		.verbs = { "list", "cancel" },
		.options = {
			{ "min", "FREQUENCY", "the lowest frequency: 1.2GHz, 50%" },
			{ "max", "FREQUENCY", "the highest frequency" },
			{ "freeze", NULL, "keep the present frequency" },
			{ "response", "TIME", "for tasks: a floor at which nine of ten bursts end in time: 2ms" },
			{ "idle-latency", "TIME", "for tasks: how long CPUs may take to wake up: 50us" },
			{ "for", "TIME", "how long: 30s, 1h30m, 2d; default 10m, at most 30d" },
		},
	},
	{
		.name = "hint",
		.help = "hint the class of a task of yours; list hints or classes",
		.run = command_hint,
		.arguments = "PID CLASS | PID none | list | classes",
		.verbs = { "list", "classes" },
		.options = {
			{ "for", "TIME", "how long: 30s, 1h30m, 2d; default 10m, at most 30d" },
			{ "children", NULL, "its later children inherit the hint" },
			{ "alone", NULL, "its children do not" },
		},
	},
	{
		.name = "profile",
		.help = "the policy's profiles, and which is in force; or choose one (root)",
		.run = command_profile,
		.arguments = "[PROFILE | auto]",
		.verbs = { "auto" },
	},
	{
		.name = "run",
		.help = "run a command in a class; or under a cap or a floor (root)",
		.run = command_run,
		.arguments = "-- COMMAND…",
		.has_tail = true,
		.options = {
			{ "class", "CLASS", "hint this class, after all rules: background" },
			{ "cap", "LEVEL", "a cap, whatever rules say: 30%, 1.2GHz (root)" },
			{ "floor", "LEVEL", "a floor while it works (root)" },
			{ "response", "TIME", "a floor at which nine of ten bursts end in time: 2ms (root)" },
			{ "idle-latency", "TIME", "how long CPUs may take to wake up: 50us (root)" },
			{ "no-boost", NULL, "no I/O boost (root)" },
		},
	},
	{
		.name = "benefit",
		.help = "compare wakegov with another governor on this machine (root)",
		.run = command_benefit,
		.arguments = "[-- COMMAND… | --suite [FILE]]",
		.has_tail = true,
		.options = {
			{ "against", "WHAT", "schedutil, …, or a file with another policy; default: the former governor" },
			{ "for", "TIME", "how long in all; default 10m" },
			{ "block", "TIME", "time between switches; default 10s" },
			{ "figure", "NAME", "name of the last number that COMMAND prints: IOPS" },
			{ "plot", "FILE", "a picture of the pairs (SVG)" },
			{ "suite", NULL, "loads of its own, also under performance; to a FILE to send" },
		},
	},
	{
		.name = "measure-power",
		.help = "measure what each OPP takes, for opp-power of the policy; 30 s (root)",
		.run = command_measure_power,
		.options = { { "for", "TIME", "how long; default 30s" } },
	},
	{
		.name = "adopt",
		.help = "drive domains again that were left to another program (root)",
		.run = command_adopt,
		.arguments = "[DOMAIN]",
	},
	{
		.name = "doctor",
		.help = "what this machine offers wakegov, and what to improve",
		.run = command_doctor,
	},
	{
		.name = "report",
		.help = "all of this for a bug report, without names; or as a page with pictures",
		.run = command_report,
		.options = { { "html", "FILE", "a page: frequencies and reasons of a week, gains, limits" },
			     { "from", "RECORDING", "the page of a recording, without a daemon" } },
	},
	{
		.name = "stats",
		.help = "time at each frequency and why; what boosts gained",
		.run = command_stats,
		.options = { { "domain", "DOMAIN", "only this domain" } },
	},
	{
		.name = "metrics",
		.help = "metrics for a monitoring system",
		.run = command_metrics,
		.options = { { "format", "FORMAT", "openmetrics, or prometheus: for node_exporter's files" } },
	},
	{
		.name = "reload",
		.help = "read the policy again (root)",
		.run = command_reload,
		.options = { { "quiet", NULL, "leave out what the daemon logs as well" } },
	},
	{
		.name = "record",
		.help = "record the core's inputs and decisions (root)",
		.run = command_record,
		.options = { { "output", "FILE", "the file to write", 'o' },
			     { "for", "TIME", "how long: 30s; default: until Ctrl-C" },
			     { "max-size", "MIB", "end at this size; default 64" } },
	},
	{
		.name = "replay",
		.help = "repeat the decisions of a recording; or with another policy",
		.run = command_replay,
		.arguments = "RECORDING",
		.options = { { "policy", "FILE", "show what this policy, alone, would have changed" },
			     { "events", NULL, "show its events instead, as monitor --json does" } },
	},
	{
		.name = "import",
		.help = "rules for a policy, from an application's file of schedqos",
		.run = command_import,
		.arguments = "FILE",
	},
	{
		.name = "complete",
		.run = command_complete,
		.arguments = "-- WORD…",
		.has_tail = true,
	},
	{ .name = NULL },
};
