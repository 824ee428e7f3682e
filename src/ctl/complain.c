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

/* By a sentence of words.json for this error, or the one for all others. */
static void complain_of(const char *group, const char *path, int error)
{
	json_auto_t *of = json_pack("{so so}", "path", format_json(path), "why",
				    format_json(strerror(-error)));
	_cleanup_free_ char *sentence = words_fill(group, strerrorname_np(-error), of, NULL);

	if (!sentence)
		sentence = words_fill(group, "", of, NULL);
	complain("%s", sentence ?: strerror(-error));
}

enum ctl_exit complain_open(const char *path, int error)
{
	complain_of("open", path, error);
	return error == -ETIMEDOUT ? CTL_LOST : CTL_UNREACHABLE;
}

enum ctl_exit complain_call(const char *path, int error)
{
	complain_of("call", path, error);
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
