// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl monitor: prints a line for each event until it is interrupted. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "ctl/quantity.h"
#include "shared/cleanup.h"
#include "shared/text.h"
#include "varlink/caller.h"

#define RETRY_S 1

struct monitoring {
	struct ctl *ctl;
	uint64_t left; /* events before it exits; UINT64_MAX: no limit */
	enum ctl_exit code;
};

/* What happened, in words; allocated. */
static char *words_of(const json_t *event)
{
	const json_t *decision = json_object_get(event, "decision");
	const json_t *task = json_object_get(event, "task");

	if (json_is_object(decision)) {
		_cleanup_free_ char *before = cell_frequency(decision, "previous_khz");
		_cleanup_free_ char *after = cell_frequency(decision, "target_khz");
		_cleanup_free_ char *reason = format_reason(
			field_text(decision, "reason"), field_text(decision, "comm"),
			field_number(decision, "pid"), field_text(decision, "limiter"), NULL);

		return format_print("%s -> %s, %s", before, after, reason);
	}
	if (json_is_object(task)) {
		_cleanup_free_ char *who = format_task(field_text(event, "comm"),
						       field_number(event, "pid"));
		_cleanup_free_ char *before = cell_text(event, "previous_state");
		_cleanup_free_ char *after = cell_text(task, "state");

		return format_print("%s: %s -> %s", who, before, after);
	}
	return cell_text(event, "message");
}

static void print_event(const json_t *event)
{
	_cleanup_free_ char *time = cell_time(event, "monotonic_us");
	_cleanup_free_ char *kind = cell_text(event, "kind");
	_cleanup_free_ char *domain = cell_text(event, "domain");
	_cleanup_free_ char *words = words_of(event);

	if (words)
		text_clean(words);
	printf("%s  %-8s  %-9s  %s\n", time, kind, domain, words ? words : "?");
}

/* Returns 0 to continue. */
static int take_reply(void *context, const json_t *reply)
{
	const json_t *event = json_object_get(json_object_get(reply, "parameters"), "event");
	struct monitoring *monitoring = context;

	if (json_is_string(json_object_get(reply, "error"))) {
		monitoring->code = complain_refusal("monitor", "io.wakegov.Monitor", reply);
		return 1;
	}
	/* The first reply only says that it listens now. */
	if (!json_is_object(event))
		return 0;
	ctl_print_line(monitoring->ctl, event, print_event);
	monitoring->code = ctl_flush();
	monitoring->left -= monitoring->left != UINT64_MAX;
	return monitoring->code != CTL_OK || !monitoring->left;
}

/* "decision,boost" as a list. */
static json_t *split(const char *text)
{
	json_t *list = json_array();

	while (*text) {
		size_t length = strcspn(text, ",");

		json_array_append_new(list, json_stringn(text, length));
		text += length + (text[length] == ',');
	}
	return list;
}

static json_t *parameters_of(const struct ctl *ctl, uint64_t pid)
{
	json_t *parameters = json_object();

	if (ctl_value(ctl, "kinds"))
		json_object_set_new(parameters, "kinds", split(ctl_value(ctl, "kinds")));
	if (ctl_value(ctl, "domain"))
		json_object_set_new(parameters, "domain", format_json(ctl_value(ctl, "domain")));
	if (pid)
		json_object_set_new(parameters, "pid", json_integer((json_int_t)pid));
	return parameters;
}

/* Waits for a daemon that is restarted, but not for one that was never there. */
static enum ctl_exit follow(struct monitoring *monitoring, uint64_t pid)
{
	const struct ctl *ctl = monitoring->ctl;
	bool was_there = false;

	for (;;) {
		_cleanup_close_ int fd = caller_open(ctl->path, caller_deadline(ctl->timeout_ns));
		int r;

		if (fd < 0 && !was_there)
			return complain_open(ctl->path, fd);
		r = fd < 0 ? fd
			   : caller_stream(fd, "io.wakegov.Monitor", parameters_of(ctl, pid),
					   take_reply, monitoring);
		if (r > 0)
			return monitoring->code;
		if (fd >= 0 && r != -ECONNRESET && r != -EPIPE)
			return complain_call(ctl->path, r);
		if (fd >= 0)
			complain("wakegovd ended; waiting for it to come back. Ctrl-C ends this");
		was_there = true;
		sleep(RETRY_S);
	}
}

enum ctl_exit command_monitor(struct ctl *ctl)
{
	struct monitoring monitoring = { .ctl = ctl, .left = UINT64_MAX };
	const char *pid_text = ctl_value(ctl, "pid"), *count = ctl_value(ctl, "count");
	uint64_t pid = 0;

	if (pid_text && (!quantity_number(pid_text, &pid) || !pid))
		return ctl_misuse(ctl,
				  "--pid %s: expected a thread id; 'wakegovctl tasks' shows "
				  "them",
				  pid_text);
	if (count && (!quantity_number(count, &monitoring.left) || !monitoring.left))
		return ctl_misuse(ctl, "--count %s: expected how many events to wait for", count);
	return follow(&monitoring, pid);
}
