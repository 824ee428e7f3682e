// SPDX-License-Identifier: GPL-2.0-only
/* The daemon's messages, each with its id and fields for the journal. */
#include "daemon/journal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

#include "actuator/saved.h"
#include "daemon/module.h"
#include "shared/log.h"
#include "shared/statefile.h"
#include "shared/text.h"
#include "shared/time.h"

#define LINE_SIZE  1024
#define FIELD_SIZE 128
#define FIELDS_MAX 8

/* An id never changes its meaning; a new meaning gets a new id (journalctl --new-id128). */
static const struct {
	const char *id;
	int level;
	enum event_kind kind; /* for monitors */
} messages[MESSAGES] = {
	[MESSAGE_GOVERNING] = { "3014aebca3954a338b7c81d2a8883549", LOG_INFO, EVENT_CHANGE },
	[MESSAGE_OBSERVED] = { "8fe92a376a5a4b2d88227c4f6c43884a", LOG_WARNING, EVENT_ERROR },
	[MESSAGE_YIELDED] = { "0c5a9832680d4d0e974fdb168b96609d", LOG_NOTICE, EVENT_YIELD },
	[MESSAGE_OFFLINE] = { "4bec41213d3745ae8b564441690b08f4", LOG_INFO, EVENT_YIELD },
	[MESSAGE_ONLINE] = { "d7a706de31704b5891bc0111ccb006da", LOG_INFO, EVENT_YIELD },
	[MESSAGE_WRITE_FAILED] = { "ce9d1d44c8e64c4c96f4e17e16c184c4", LOG_WARNING, EVENT_ERROR },
	[MESSAGE_POLICY_READ] = { "b7d03621c3b0427fb479631812766486", LOG_INFO, EVENT_CHANGE },
	[MESSAGE_POLICY_REFUSED] = { "1a59d9432c1e4d73ac01d40fa8b60842", LOG_ERR, EVENT_ERROR },
	[MESSAGE_RESTORED] = { "7a202568d5134cbba7fb10a4237b662a", LOG_INFO, EVENT_ERROR },
	[MESSAGE_RESTORE_FAILED] = { "b6f3d58461dd49c294c9d555f0ac7605", LOG_ERR, EVENT_ERROR },
	[MESSAGE_PROFILE] = { "0344990c04aa4cba9e8cac441f7c394a", LOG_INFO, EVENT_CHANGE },
	[MESSAGE_OVERRIDE] = { "8ba4a146d927433595dc71ae70b3960a", LOG_INFO, EVENT_CHANGE },
	[MESSAGE_SOURCE_DROPPED] = { "bd953f0499cb40b58d36853b28c53650", LOG_WARNING, EVENT_ERROR },
};

struct fields {
	char texts[FIELDS_MAX][FIELD_SIZE];
	struct iovec vector[FIELDS_MAX + 1];
	int n;
};

static void add_field(struct fields *fields, const char *name, const char *value)
{
	char *text = fields->texts[fields->n];

	if (!value)
		return;
	snprintf(text, FIELD_SIZE, "%s=%s", name, value);
	text_clean(text);
	fields->vector[fields->n++] = (struct iovec){ text, strlen(text) };
}

static void add_number(struct fields *fields, const char *name, unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	add_field(fields, name, text);
}

static int send_to_journal(enum message message, const struct event *about, const char *line)
{
	char text[sizeof("MESSAGE=") + LINE_SIZE];
	struct fields fields = { 0 };
	char *unit = NULL;

	add_number(&fields, "PRIORITY", messages[message].level);
	add_field(&fields, "SYSLOG_IDENTIFIER", program_invocation_short_name);
	add_field(&fields, "MESSAGE_ID", messages[message].id);
	/*
	 * journald looks up the sender's unit when it reads a message. For a process that has
	 * exited by then, such as --restore, it finds none, and journalctl -u would omit the
	 * message.
	 */
	if (sd_pid_get_unit(0, &unit) >= 0)
		add_field(&fields, "OBJECT_SYSTEMD_UNIT", unit);
	free(unit);
	if (about) {
		add_field(&fields, "WAKEGOV_DOMAIN", about->domain);
		add_field(&fields, "WAKEGOV_TASK", about->comm);
		add_field(&fields, "WAKEGOV_REASON", about->reason);
		if (about->pid)
			add_number(&fields, "WAKEGOV_PID", about->pid);
	}
	snprintf(text, sizeof(text), "MESSAGE=%s", line);
	fields.vector[fields.n] = (struct iovec){ text, strlen(text) };
	return sd_journal_sendv(fields.vector, fields.n + 1);
}

void journal_log(enum message message, const struct event *about, const char *format, ...)
{
	int level = messages[message].level;
	char line[LINE_SIZE];
	va_list args;

	if (!log_is_shown(level))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	text_clean(line);
	if (log_is_journal() && send_to_journal(message, about, line) >= 0)
		log_notify(level, line);
	else
		log_message(level, "%s", line);
}

void journal_report(struct core *core, enum message message, const struct event *about,
		    const char *format, ...)
{
	char line[LINE_SIZE];
	struct event event = about ? *about : (struct event){ 0 };
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	journal_log(message, about, "%s", line);
	event.kind = messages[message].kind;
	event.now_ns = time_now_ns();
	event.message = line;
	modules_call(core, report, &event);
}

void journal_report_restore(void *userdata, const struct restore_result *result)
{
	char text[256], domain[24];
	struct event about = { 0 };

	restore_describe(result, text, sizeof(text));
	if (result->policy != CONTROL_SHARED) {
		snprintf(domain, sizeof(domain), "policy%u", result->policy);
		about.domain = domain;
	}
	if (result->outcome == RESTORE_FAILED)
		about.reason = strerrorname_np(-result->error);
	journal_log(result->outcome == RESTORE_FAILED ? MESSAGE_RESTORE_FAILED : MESSAGE_RESTORED,
		    &about, "%s", text);
}

void journal_log_left(int r, const char *what, const char *run_dir, const char *file)
{
	if (r < 0)
		log_error("%s could not all be restored: %s; the rest is in %s/%s", what,
			  statefile_refusal(r) ?: strerror(-r), run_dir, file);
}
