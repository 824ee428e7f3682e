// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl doctor: what this machine has of what wakegov needs. Needs no daemon. */
#include "diag/doctor.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>

#include "ctl/commands.h"
#include "ctl/complain.h"
#include "ctl/connection.h"
#include "ctl/paragraph.h"
#include "ctl/show.h"
#include "shared/cleanup.h"

/* Findings as they come, for machines or for people. */
struct report {
	json_t *findings; /* NULL: for people */
	bool bad;
};

static void add(void *userdata, const struct finding *finding)
{
	const char *grade = finding_grade_name(finding->grade);
	struct report *report = userdata;

	report->bad |= finding->grade == FINDING_BAD;
	if (report->findings) {
		json_array_append_new(report->findings,
				      json_pack("{ss ss ss ss}", "grade", grade, "what",
						finding->what, "found", finding->found, "advice",
						finding->advice));
		return;
	}
	paragraph_printf(stdout, grade, "%s: %s", finding->what, finding->found);
	if (finding->advice[0])
		paragraph_printf(stdout, "", "%s", finding->advice);
}

static void add_domain(struct report *report, const json_t *domain)
{
	const char *state = field_text(domain, "state"), *why = field_text(domain, "state_why");
	const char *name = field_text(domain, "name"), *backend = field_text(domain, "backend");
	bool yielded = state && strcmp(state, "yielded") == 0;
	char what[64], found[256], advice[128] = "";

	snprintf(what, sizeof(what), "%s: wakegovd", name ? name : "");
	snprintf(found, sizeof(found), "%s, backend %s%s%s", state ? state : "",
		 backend ? backend : "", why ? ": " : "", why ? why : "");
	if (yielded)
		snprintf(advice, sizeof(advice),
			 "stop the program that sets it, then: wakegovctl adopt %s", name);
	add(report, &(struct finding){ yielded ? FINDING_BAD : FINDING_GOOD, what, found, advice });
}

/* What the daemon says, where one answers; that none does is no complaint of its own. */
static void add_daemon(struct ctl *ctl, struct report *report)
{
	uint64_t deadline_ns = connection_deadline(ctl->timeout_ns);
	_cleanup_close_ int fd = connection_open(ctl->path, deadline_ns);
	json_t *reply = NULL;
	const json_t *domain;
	size_t i;

	if (fd < 0 || connection_call(fd, "io.wakegov.Domains", NULL, deadline_ns, &reply) < 0) {
		add(report,
		    &(struct finding){ FINDING_NOTE, "wakegovd", "does not answer",
				       "start it: systemctl start wakegovd, and see journalctl -u "
				       "wakegovd" });
		return;
	}
	json_array_foreach(json_object_get(json_object_get(reply, "parameters"), "domains"), i,
			   domain)
		add_domain(report, domain);
	json_decref(reply);
}

enum ctl_exit command_doctor(struct ctl *ctl)
{
	struct report report = { .findings = ctl->json ? json_array() : NULL };
	_cleanup_free_ char *path = strdup(ctl->path);
	enum ctl_exit code;
	int r;

	if (ctl->n_arguments)
		return ctl_misuse(ctl, "doctor takes no arguments");
	r = path ? doctor_examine(dirname(path), add, &report) : -ENOMEM;
	if (r < 0) {
		complain("cannot examine this machine: %s", strerror(-r));
		json_decref(report.findings);
		return CTL_REFUSED;
	}
	add_daemon(ctl, &report);
	if (report.findings)
		json_dumpf(report.findings, stdout,
			   JSON_INDENT(2) | JSON_SORT_KEYS | JSON_ENSURE_ASCII),
			putchar('\n');
	json_decref(report.findings);
	code = ctl_flush();
	return code == CTL_OK && report.bad ? CTL_REFUSED : code;
}
