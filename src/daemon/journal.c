// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/journal.h"

#include <stdio.h>
#include <string.h>

#include "actuator/tunables.h"
#include "daemon/monitor.h"
#include "shared/log.h"
#include "shared/statefile.h"
#include "shared/time.h"

#define LINE_SIZE 1024

static enum event_kind kind_of(enum message message)
{
	switch (message) {
	case MESSAGE_YIELDED:
	case MESSAGE_OFFLINE:
	case MESSAGE_ONLINE:
		return EVENT_YIELD;
	case MESSAGE_GOVERNING:
	case MESSAGE_POLICY_READ:
	case MESSAGE_PROFILE:
	case MESSAGE_OVERRIDE:
		return EVENT_CHANGE;
	default:
		return EVENT_ERROR;
	}
}

void journal_tell(struct manager *manager, enum message message, const struct message_about *about,
		  const char *format, ...)
{
	char line[LINE_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	message_log(message, about, "%s", line);
	monitor_publish(manager, &(struct event){
					 .kind = kind_of(message),
					 .now_ns = time_now_ns(),
					 .domain = about ? about->domain : NULL,
					 .pid = about ? about->pid : 0,
					 .comm = about ? about->comm : NULL,
					 .message = line,
				 });
}

void journal_report_restore(void *userdata, const struct restore_result *result)
{
	char text[256], domain[24];
	struct message_about about = { 0 };

	restore_describe(result, text, sizeof(text));
	if (result->policy != TUNABLE_SHARED) {
		snprintf(domain, sizeof(domain), "policy%u", result->policy);
		about.domain = domain;
	}
	if (result->outcome == RESTORE_FAILED)
		about.reason = strerrorname_np(-result->error);
	message_log(result->outcome == RESTORE_FAILED ? MESSAGE_RESTORE_FAILED : MESSAGE_RESTORED,
		    &about, "%s", text);
}

void journal_tell_left(int r, const char *what, const char *run_dir, const char *file)
{
	if (r < 0)
		log_error("%s could not all be restored: %s; what is left stands in %s/%s", what,
			  statefile_refusal(r) ?: strerror(-r), run_dir, file);
}
