// SPDX-License-Identifier: GPL-2.0-only
/*
 * How commands read their options, call the daemon and print; and failures on standard error: what
 * failed, why, and what to do.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/text.h"
#include "varlink/caller.h"

const json_t *ctl_commands(void)
{
	return json_object_get(words_all(), "commands");
}

const json_t *ctl_find(const char *name)
{
	const json_t *command;
	size_t i;

	json_array_foreach(ctl_commands(), i, command)
		if (field_is_word(command, "name", name))
			return command;
	return NULL;
}

const char *ctl_name(const struct ctl *ctl)
{
	return field_text(ctl->command, "name");
}

bool ctl_option(const json_t *command, size_t i, struct ctl_option *ret)
{
	const json_t *own = json_object_get(command, "options");
	const json_t *general = json_object_get(words_all(), "options_of_all");
	size_t n_own = json_array_size(own);
	const json_t *row = i < n_own ? json_array_get(own, i) : json_array_get(general, i - n_own);
	const char *shown = json_string_value(json_array_get(row, 0)), *name, *blank;

	if (!shown)
		return false;
	name = strstr(shown, "--") + 2;
	blank = strchr(name, ' ');
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)strcspn(name, " "), name);
	ret->letter = shown[1] == '-' ? 0 : shown[1];
	ret->value = blank ? blank + 1 : NULL;
	ret->help = json_string_value(json_array_get(row, 1));
	return true;
}

const char *ctl_value(const struct ctl *ctl, const char *name)
{
	return field_text(ctl->values, name);
}

bool ctl_duration(const struct ctl *ctl, const char *option, uint64_t *us)
{
	const char *text = ctl_value(ctl, option);

	if (!text || (quantity_duration_us(text, us) && *us))
		return true;
	ctl_misuse(ctl, "--%s %s: expected a time such as 30s, 1h30m or 2d", option, text);
	return false;
}

bool ctl_moment(const struct ctl *ctl, const char *option, struct moment *ret)
{
	const struct moment now = moment_now();
	const char *text = ctl_value(ctl, option);
	int r = moment_parse(text, &now, ret);

	if (r == -ERANGE)
		ctl_misuse(ctl, "--%s %s: that is still to come, or too long ago", option, text);
	else if (r < 0)
		ctl_misuse(ctl,
			   "--%s %s: expected a time of day such as 14:03 or 14:03:07, a day and a "
			   "time such as '2026-11-20 14:03', or how long ago, such as 30s or 1h",
			   option, text);
	return r == 0;
}

enum ctl_exit ctl_misuse(const struct ctl *ctl, const char *format, ...)
{
	va_list args;

	fputs("wakegovctl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nSee: wakegovctl %s --help\n", ctl_name(ctl));
	return CTL_USAGE;
}

/* Returns 0 or an error of caller_open(), which is positive, or of caller_call(). */
static int call(const struct ctl *ctl, const char *method, json_t *parameters, json_t **ret)
{
	uint64_t deadline_ns = caller_deadline(ctl->timeout_ns);
	_cleanup_close_ int fd = caller_open(ctl->path, deadline_ns);

	if (fd < 0) {
		json_decref(parameters);
		return -fd;
	}
	return caller_call(fd, method, parameters, deadline_ns, ret);
}

enum ctl_exit ctl_call(const struct ctl *ctl, const char *method, json_t *parameters, json_t **ret)
{
	json_auto_t *reply = NULL;
	int r = call(ctl, method, parameters, &reply);
	const char *error = field_text(reply, "error");

	if (r > 0)
		return complain_open(ctl->path, -r);
	if (r < 0)
		return complain_call(ctl->path, r);
	if (error && ctl->logged_error && !strcmp(error, ctl->logged_error))
		return CTL_REFUSED;
	if (error)
		return complain_refusal(ctl_name(ctl), reply);
	if (ret)
		*ret = json_incref(json_object_get(reply, "parameters"));
	return CTL_OK;
}

int ctl_try(const struct ctl *ctl, const char *method, json_t *parameters, json_t **ret)
{
	json_auto_t *reply = NULL;
	int r = call(ctl, method, parameters, &reply);

	if (r == 0 && !field_text(reply, "error"))
		*ret = json_incref(json_object_get(reply, "parameters"));
	return r > 0 ? -r : r;
}

enum ctl_exit ctl_call_pages(const struct ctl *ctl, const char *method, json_t *parameters,
			     const char *key, size_t max, json_t *list)
{
	json_int_t offset = 0;
	enum ctl_exit code = CTL_OK;

	while (code == CTL_OK && offset >= 0 && json_array_size(list) < max) {
		json_auto_t *reply = NULL;
		const json_t *next;

		json_object_set_new(parameters, "offset", json_integer(offset));
		code = ctl_call(ctl, method, json_copy(parameters), &reply);
		json_array_extend(list, json_object_get(reply, key));
		next = json_object_get(reply, "next_offset");
		offset = json_is_integer(next) ? json_integer_value(next) : -1;
	}
	json_decref(parameters);
	return code;
}

enum ctl_exit ctl_flush(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return CTL_OK;
	/*
	 * The reader has closed the pipe. If SIGPIPE is ignored, as under systemd, exit in the same
	 * way.
	 */
	if (errno == EPIPE) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	complain("cannot write the output: %s", strerror(errno));
	return CTL_REFUSED;
}

enum ctl_exit ctl_print(const struct ctl *ctl, json_t *reply, const char *view,
			void (*add)(json_t *reply))
{
	if (ctl->json) {
		json_dumpf(reply, stdout, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
		putchar('\n');
	} else {
		if (add)
			add(reply);
		view_print(stdout, view, reply);
	}
	return ctl_flush();
}

void ctl_print_one(const struct ctl *ctl, const json_t *one, const char *view)
{
	if (ctl->json) {
		json_dumpf(one, stdout, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
		putchar('\n');
	} else {
		view_print(stdout, view, one);
	}
}

enum ctl_exit ctl_ask(const struct ctl *ctl, const char *method, json_t *parameters,
		      const char *view, void (*add)(json_t *reply))
{
	json_auto_t *reply = NULL;
	enum ctl_exit code = ctl_call(ctl, method, parameters, &reply);

	return code == CTL_OK ? ctl_print(ctl, reply, view, add) : code;
}

FILE *ctl_open_output(const char *path)
{
	FILE *out = fopen(path, "we");

	if (!out)
		complain("cannot write %s: %s", path, strerror(errno));
	return out;
}

enum ctl_exit ctl_close_output(FILE *out, const char *path, enum ctl_exit code)
{
	bool failed = ferror(out);

	failed |= fclose(out) != 0;
	if (!failed || code != CTL_OK)
		return code;
	complain("cannot write %s: %s", path, strerror(errno));
	return CTL_REFUSED;
}

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
