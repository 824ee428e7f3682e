// SPDX-License-Identifier: GPL-2.0-only
/* Failures on standard error: what failed, why, and what to do. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/text.h"

void complain(const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "wakegovctl: %s\n", text_clean(line));
}

void complain_lines(const char *before, const char *text)
{
	const char *line = text ? text : "-";

	for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		complain("%s%.*s", before, (int)strcspn(line, "\n"), line);
		before = "";
	}
}

enum ctl_exit complain_open(const char *path, int error)
{
	switch (error) {
	case -ENOENT:
	case -ECONNREFUSED:
		complain(
			"wakegovd is not running: no process listens on %s. Start it with: systemctl "
			"start wakegovd",
			path);
		return CTL_UNREACHABLE;
	case -EACCES:
	case -EPERM:
		complain("no permission to connect to %s. Try it as root", path);
		return CTL_UNREACHABLE;
	case -ETIMEDOUT:
		complain("wakegovd does not accept connections on %s. See: systemctl status "
			 "wakegovd",
			 path);
		return CTL_LOST;
	default:
		complain("cannot connect to %s: %s. Is it wakegovd's socket?", path,
			 strerror(-error));
		return CTL_UNREACHABLE;
	}
}

enum ctl_exit complain_call(const char *path, int error)
{
	switch (error) {
	case -ETIMEDOUT:
		complain("no answer from %s in time. See: systemctl status wakegovd", path);
		break;
	case -ECONNRESET:
	case -EPIPE:
		complain("%s closed the connection without an answer: wakegovd ended, or has too "
			 "many clients. See: systemctl status wakegovd",
			 path);
		break;
	case -EBADMSG:
		complain("what came from %s is no Varlink reply. Is it wakegovd's socket?", path);
		break;
	default:
		complain("lost the connection to %s: %s", path, strerror(-error));
		break;
	}
	return CTL_LOST;
}

/* Names of options' values, and what they must be. */
static const struct {
	const char *parameter;
	const char *expected;
} options[] = {
	{ "kinds",
	  "--kinds cannot be that: expected some of decision, boost, yield, error, change, "
	  "with commas between" },
	{ "for_us", "--for cannot be that: expected a time of up to 30d, such as 10m" },
	{ "min-frequency", "--min cannot be that: expected a frequency that is not above --max" },
	{ "format", "--format cannot be that: expected openmetrics or prometheus" },
};

static void complain_parameter(const char *command, const json_t *parameters)
{
	_cleanup_free_ char *parameter = format_clean(field_text(parameters, "parameter"));

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(parameter, options[i].parameter)) {
			complain("%s. See: wakegovctl %s --help", options[i].expected, command);
			return;
		}
	complain("wakegovd cannot take %s with these values: %s is wrong, or does not go with the "
		 "others. See: wakegovctl %s --help",
		 command, parameter, command);
}

/* Errors whose sentence needs no parameter. */
static const struct {
	const char *error;
	const char *sentence;
} refusals[] = {
	{ "io.wakegov.NoSuchCpu",
	  "this CPU is in no cpufreq domain, or is not there. See: wakegovctl domains" },
	{ "io.wakegov.NoSuchTask", "there is no task with this number. See: ps -eL" },
	{ "io.wakegov.OtherPidNamespace",
	  "numbers of tasks are others in this PID namespace than for wakegovd: ask outside of the "
	  "container. For a command of one's own there is: wakegovctl run" },
	{ "io.wakegov.NoSuchClass",
	  "the policy has no class of this name. See: wakegovctl hint classes" },
	{ "io.wakegov.NotYours",
	  "the task is another user's, or another user gave it its hint: only root, and "
	  "change-group in wakegov.conf(5), may change that" },
	{ "io.wakegov.KernelThread",
	  "kernel threads cannot have hints, but a rule can match them. See: "
	  "wakegov.conf(5)" },
	{ "io.wakegov.NoSuchHint",
	  "the task has no hint of its own. See: wakegovctl hint list; wakegovctl rules PID" },
	{ "io.wakegov.HintHeld",
	  "a program holds the hint of this task, and ends it with its connection" },
	{ "io.wakegov.TooManyHints",
	  "you have as many hints as a user may have: max-hints in wakegov.conf(5). End one with: "
	  "wakegovctl hint PID none" },
	{ "io.wakegov.NoRoomForHint",
	  "there is no place for it: the table of tasks is full (max-ruled-tasks in "
	  "wakegov.conf(5)), or the policy has too many rules. See: wakegovctl rules" },
	{ "io.wakegov.NoSuchRule", "the policy has no such rule. See: wakegovctl rules" },
	{ "io.wakegov.NoSuchProfile", "the policy has no such profile. See: wakegovctl profile" },
	{ "io.wakegov.RecordingBusy",
	  "there is a recording already, and there can be only one. It ends with its "
	  "wakegovctl record; see: pgrep -a wakegovctl" },
	{ "io.wakegov.NotRemembered",
	  "no change of the domain at or before that time is remembered. Only root sees "
	  "those on disk: sudo wakegovctl explain; see max-decisions and history in "
	  "wakegov.conf(5)" },
	{ "io.wakegov.NoSuchOverride",
	  "no override in force has this number. See: wakegovctl override list" },
	{ "io.wakegov.TooManyOverrides",
	  "the highest number of overrides is in force. End one with: wakegovctl override "
	  "cancel ID" },
};

enum ctl_exit complain_refusal(const char *command, const json_t *reply)
{
	const json_t *parameters = json_object_get(reply, "parameters");
	_cleanup_free_ char *message = format_clean(field_text(parameters, "message"));
	_cleanup_free_ char *domain = format_clean(field_text(parameters, "domain"));
	const char *error = field_text(reply, "error"), *sentence = NULL;
	_cleanup_free_ char *clean_error = format_clean(error);
	_cleanup_free_ char *dump = json_dumps(parameters, JSON_COMPACT | JSON_ENSURE_ASCII);

	for (size_t i = 0; i < ARRAY_SIZE(refusals) && !sentence; i++)
		if (!strcmp(error, refusals[i].error))
			sentence = refusals[i].sentence;
	if (!strcmp(error, "io.wakegov.PolicyInvalid"))
		complain_lines("the policy was refused, and the old one stays in force: ",
			       field_text(parameters, "message"));
	else if (!strcmp(error, "io.wakegov.Failed"))
		complain("wakegovd failed: %s. See: journalctl -u wakegovd", message);
	else if (!strcmp(error, "io.wakegov.NoSuchDomain"))
		complain("there is no domain '%s'. See: wakegovctl domains", domain);
	else if (sentence)
		complain("%s", sentence);
	else if (!strcmp(error, "org.varlink.service.PermissionDenied"))
		complain("%s is for root, and for the members of change-group (wakegov.conf(5)). "
			 "Try: sudo wakegovctl %s",
			 command, command);
	else if (!strcmp(error, "org.varlink.service.InvalidParameter"))
		complain_parameter(command, parameters);
	else if (!strcmp(error, "org.varlink.service.MethodNotFound"))
		complain("this wakegovd does not know %s: it is of another version than "
			 "wakegovctl. Restart it with: systemctl restart wakegovd",
			 command);
	else
		complain("wakegovd refused %s: %s%s%s", command, clean_error, dump ? " " : "",
			 dump ?: "");
	return CTL_REFUSED;
}
