// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl doctor: which of wakegov's needs this machine meets. Works without a daemon. */
#include "diag/doctor.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>

#include "config/load.h"
#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

struct report {
	json_t *findings;
	bool bad;
};

static void add(void *userdata, const struct finding *finding)
{
	struct report *report = userdata;

	report->bad |= finding->grade == FINDING_BAD;
	json_array_append_new(report->findings,
			      json_pack("{ss ss ss ss}", "grade",
					finding_grade_name(finding->grade), "what", finding->what,
					"found", finding->found, "advice", finding->advice));
}

static void add_domain(struct report *report, const json_t *domain)
{
	const char *state = field_text(domain, "state"), *why = field_text(domain, "state_why");
	const char *name = field_text(domain, "name"), *backend = field_text(domain, "backend");
	bool yielded = field_is_word(domain, "state", "yielded");
	char what[64], found[256], advice[128] = "";

	snprintf(what, sizeof(what), "%s: wakegovd", name ? name : "");
	snprintf(found, sizeof(found), "%s, backend %s%s%s", state ? state : "",
		 backend ? backend : "", why ? ": " : "", why ? why : "");
	if (yielded)
		snprintf(advice, sizeof(advice),
			 "stop the program that sets it, then: wakegovctl adopt %s", name);
	add(report, &(struct finding){ yielded ? FINDING_BAD : FINDING_GOOD, what, found, advice });
}

/* Adds the daemon's status if one answers; it is no finding if none does. */
static void add_daemon(const struct ctl *ctl, struct report *report)
{
	json_t *reply = NULL;
	const json_t *domain;
	size_t i;

	if (ctl_try(ctl, "io.wakegov.Domains", ctl->timeout_ns, &reply) < 0) {
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

json_t *doctor_findings(const struct ctl *ctl, bool *ret_bad)
{
	struct report report = { .findings = json_array() };
	_cleanup_free_ char *path = strdup(ctl->path);
	_cleanup_free_ char *message = NULL;
	struct policy policy;
	int r;

	/* Errors in the files are for wakegovd --check-config to report. */
	if (policy_load(WAKEGOV_POLICY_PATH, true, WAKEGOV_POLICY_PATH ".d", &policy, &message) < 0)
		policy_init(&policy);
	r = path ? doctor_examine(dirname(path), &policy, add, &report) : -ENOMEM;
	if (r < 0) {
		complain("cannot examine this machine: %s", strerror(-r));
		json_decref(report.findings);
		return NULL;
	}
	add_daemon(ctl, &report);
	*ret_bad = report.bad;
	return report.findings;
}

void doctor_show(const json_t *findings)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding) {
		const char *advice = field_text(finding, "advice");

		paragraph_printf(stdout, field_text(finding, "grade"), "%s: %s",
				 field_text(finding, "what"), field_text(finding, "found"));
		if (*advice)
			paragraph_print(stdout, "", advice);
	}
}

enum ctl_exit command_doctor(struct ctl *ctl)
{
	json_auto_t *findings = NULL;
	enum ctl_exit code;
	bool bad;

	if (ctl->n_arguments)
		return ctl_misuse(ctl, "doctor takes no arguments");
	findings = doctor_findings(ctl, &bad);
	if (!findings)
		return CTL_REFUSED;
	code = ctl_print(ctl, findings, doctor_show);
	return code == CTL_OK && bad ? CTL_REFUSED : code;
}
