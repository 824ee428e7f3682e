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

enum ctl_exit complain_refusal(const char *command, const json_t *reply)
{
	const json_t *parameters = json_object_get(reply, "parameters");
	const char *error = field_text(reply, "error");
	const char *parameter = field_text(parameters, "parameter") ?: "";
	json_auto_t *asked = json_pack("{ss}", "command", command);
	_cleanup_free_ char *sentence = words_fill("options", parameter, parameters, asked);
	_cleanup_free_ char *clean_error = format_clean(error);
	_cleanup_free_ char *dump = json_dumps(parameters, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (!strcmp(error, "io.wakegov.PolicyInvalid")) {
		complain_lines("the policy was refused, and the old one stays in force: ",
			       field_text(parameters, "message"));
		return CTL_REFUSED;
	}
	if (!sentence)
		sentence = words_fill("errors", error, parameters, asked);
	if (sentence)
		complain("%s", sentence);
	else
		complain("wakegovd refused %s: %s%s%s", command, clean_error, dump ? " " : "",
			 dump ?: "");
	return CTL_REFUSED;
}
