// SPDX-License-Identifier: GPL-2.0-only
/* How commands call the daemon and write to standard output. */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/complain.h"
#include "ctl/moment.h"
#include "ctl/quantity.h"
#include "shared/cleanup.h"
#include "varlink/caller.h"

const char *ctl_value(const struct ctl *ctl, const char *name)
{
	const struct ctl_option *options = ctl->command->options;

	for (size_t i = 0; i < CTL_OPTIONS_MAX && options[i].name; i++)
		if (!strcmp(options[i].name, name))
			return ctl->values[i];
	assert(!"an option that is not in the table");
	return NULL;
}

enum ctl_exit ctl_call(const struct ctl *ctl, const char *method, json_t *parameters, json_t **ret)
{
	uint64_t deadline_ns = caller_deadline(ctl->timeout_ns);
	_cleanup_close_ int fd = caller_open(ctl->path, deadline_ns);
	enum ctl_exit code = CTL_OK;
	json_t *reply;
	int r;

	if (fd < 0) {
		json_decref(parameters);
		return complain_open(ctl->path, fd);
	}
	r = caller_call(fd, method, parameters, deadline_ns, &reply);
	if (r < 0)
		return complain_call(ctl->path, r);

	if (json_is_string(json_object_get(reply, "error")))
		code = complain_refusal(ctl->command->name, method, reply);
	else
		*ret = json_incref(json_object_get(reply, "parameters"));
	json_decref(reply);
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

enum ctl_exit ctl_print(const struct ctl *ctl, const json_t *parameters,
			void (*show)(const json_t *reply))
{
	if (ctl->json) {
		json_dumpf(parameters, stdout, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
		putchar('\n');
	} else {
		show(parameters);
	}
	return ctl_flush();
}

enum ctl_exit ctl_ask(const struct ctl *ctl, const char *method, json_t *parameters,
		      void (*show)(const json_t *reply))
{
	json_t *reply;
	enum ctl_exit code = ctl_call(ctl, method, parameters, &reply);

	if (code != CTL_OK)
		return code;
	code = ctl_print(ctl, reply, show);
	json_decref(reply);
	return code;
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
	const struct moment now = { moment_monotonic_us(), moment_realtime_us() };
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
	fprintf(stderr, "\nSee: wakegovctl %s --help\n", ctl->command->name);
	return CTL_USAGE;
}
