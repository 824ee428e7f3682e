// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl doctor: which of wakegov's needs this machine meets. Works without a daemon. */
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

/* Adds the state of each domain if the daemon answers; it is no finding if it does not. */
static void add_daemon(const json_t *status, json_t *findings)
{
	json_t *domain;
	size_t i;

	if (!status)
		doctor_append(findings, FINDING_NOTE, NULL, "wakegovd", NULL);
	json_array_foreach(json_object_get(status, "domains"), i, domain)
		doctor_append(findings,
			      field_is_word(domain, "state", "yielded") ? FINDING_BAD
									: FINDING_GOOD,
			      field_text(domain, "name"), "wakegovd", json_incref(domain));
}

json_t *doctor_findings(const struct ctl *ctl, bool *ret_bad)
{
	json_auto_t *status = NULL, *rules = NULL;
	json_auto_t *findings = json_array();
	_cleanup_free_ char *path = strdup(ctl->path);
	_cleanup_free_ char *message = NULL;
	const json_t *frequency, *finding;
	struct policy policy;
	size_t i;
	int r;

	/* Errors in the files are for wakegovd --check-config to report. */
	if (policy_load(WAKEGOV_POLICY_PATH, true, WAKEGOV_POLICY_PATH ".d", &policy, &message) < 0)
		policy_init(&policy);
	ctl_try(ctl, "io.wakegov.Status", NULL, &status);
	ctl_try(ctl, "io.wakegov.Rules", NULL, &rules);
	frequency = json_object_get(status, "frequency");
	r = path ? doctor_examine(dirname(path), &policy, field_text(frequency, "source"),
				  field_text(frequency, "why"), findings)
		 : -ENOMEM;
	if (r < 0) {
		complain("cannot examine this machine: %s", strerror(-r));
		return NULL;
	}
	add_daemon(status, findings);
	doctor_advise(findings, "/sys", "/proc", status, rules);
	*ret_bad = false;
	json_array_foreach(findings, i, finding)
		*ret_bad |= field_is_word(finding, "grade", FINDING_BAD);
	return json_pack("{sO}", "findings", findings);
}

/* The domains of a finding before a colon; NULL: it is about the whole machine. */
static json_t *where(const json_t *domains, size_t n_all)
{
	size_t i, n = json_array_size(domains);
	const json_t *name;
	char text[16384] = ""; /* for the names of a thousand */

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
