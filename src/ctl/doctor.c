// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl doctor: which of wakegov's needs this machine meets. Works without a daemon. */
#include "diag/diag.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>

#include "config/keys.h"
#include "config/load.h"
#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/text.h"

struct report {
	json_t *findings;
	bool bad;
};

/* What is found alike in several domains becomes one finding with their names. */
static void add(void *userdata, const struct finding *finding)
{
	struct report *report = userdata;
	json_auto_t *domains = json_array();
	json_auto_t *new = json_pack("{sO ss ss ss ss}", "domains", domains, "grade",
				     finding->grade, "what", finding->what, "found", finding->found,
				     "advice", finding->advice);
	json_t *entry, *alike = NULL;
	size_t i;

	json_array_foreach(report->findings, i, entry) {
		/* Compares them as if they were of the same domains. */
		json_object_set(new, "domains", json_object_get(entry, "domains"));
		if (json_equal(entry, new))
			alike = entry;
	}
	json_object_set(new, "domains", domains);
	if (!alike)
		json_array_append(report->findings, alike = new);
	if (*finding->domain)
		json_array_append_new(json_object_get(alike, "domains"),
				      json_string(finding->domain));
	report->bad |= !strcmp(finding->grade, FINDING_BAD);
}

/* Adds the state of each domain if the daemon answers; it is no finding if it does not. */
static void add_daemon(const json_t *status, struct report *report)
{
	const json_t *domain;
	size_t i;

	if (!status)
		add(report,
		    &(struct finding){ FINDING_NOTE, "", "wakegovd", "does not answer",
				       "start it: systemctl start wakegovd, and see journalctl -u "
				       "wakegovd" });
	json_array_foreach(json_object_get(status, "domains"), i, domain) {
		bool yielded = field_is_word(domain, "state", "yielded");
		const char *why = field_text(domain, "state_why");
		char found[256];

		snprintf(found, sizeof(found), "%s, backend %s%s%s",
			 field_text(domain, "state") ?: "", field_text(domain, "backend") ?: "",
			 why ? ": " : "", why ?: "");
		add(report,
		    &(struct finding){
			    yielded ? FINDING_BAD : FINDING_GOOD, field_text(domain, "name") ?: "",
			    "wakegovd", found,
			    yielded ? "stop the program that sets it, then: wakegovctl adopt; where it "
				      "is a unit that runs once at boot: Before=wakegovd.service"
				    : "" });
	}
}

json_t *doctor_findings(const struct ctl *ctl, bool *ret_bad)
{
	json_auto_t *status = NULL, *rules = NULL;
	struct report report = { .findings = json_array() };
	_cleanup_free_ char *path = strdup(ctl->path);
	_cleanup_free_ char *message = NULL;
	const json_t *frequency;
	struct policy policy;
	int r;

	/* Errors in the files are for wakegovd --check-config to report. */
	if (policy_load(WAKEGOV_POLICY_PATH, true, WAKEGOV_POLICY_PATH ".d", &policy, &message) < 0)
		policy_init(&policy);
	ctl_try(ctl, "io.wakegov.Status", NULL, &status);
	ctl_try(ctl, "io.wakegov.Rules", NULL, &rules);
	frequency = json_object_get(status, "frequency");
	r = path ? doctor_examine(dirname(path), &policy, field_text(frequency, "source"),
				  field_text(frequency, "why"), add, &report)
		 : -ENOMEM;
	if (r < 0) {
		complain("cannot examine this machine: %s", strerror(-r));
		json_decref(report.findings);
		return NULL;
	}
	add_daemon(status, &report);
	doctor_advise(report.findings, "/sys", "/proc", status, rules);
	*ret_bad = report.bad;
	return json_pack("{so}", "findings", report.findings);
}

/* The domains of a finding before a colon; NULL: it is about the whole machine. */
static json_t *where(const json_t *domains, size_t n_all)
{
	size_t i, n = json_array_size(domains);
	const json_t *name;
	char text[256] = "";

	if (n > 2 && n == n_all)
		return json_sprintf("all %zu domains", n);
	json_array_foreach(domains, i, name)
		text_append(text, sizeof(text), "%s%s", i ? ", " : "", json_string_value(name));
	return n ? json_string(text) : NULL;
}

/* How many findings there are of each grade, and where each is. */
void doctor_add(json_t *reply)
{
	json_auto_t *all = json_object(); /* its keys are the names of all domains */
	json_t *findings = json_object_get(reply, "findings"), *finding, *name;
	size_t i, k;

	json_object_update_new(reply, json_pack("{si si si}", "good", 0, "note", 0, "bad", 0));
	json_array_foreach(findings, i, finding)
		json_array_foreach(json_object_get(finding, "domains"), k, name)
			json_object_set_new(all, json_string_value(name), json_true());
	json_array_foreach(findings, i, finding) {
		const char *grade = field_shown(finding, "grade");

		json_object_set_new(
			finding, "where",
			where(json_object_get(finding, "domains"), json_object_size(all)));
		json_object_set_new(reply, grade,
				    json_integer((json_int_t)field_number(reply, grade) + 1));
	}
}

enum ctl_exit command_doctor(struct ctl *ctl)
{
	json_auto_t *findings = NULL;
	enum ctl_exit code;
	bool bad;

	findings = doctor_findings(ctl, &bad);
	if (!findings)
		return CTL_REFUSED;
	code = ctl_print(ctl, findings, "doctor", doctor_add);
	return code == CTL_OK && bad ? CTL_REFUSED : code;
}
