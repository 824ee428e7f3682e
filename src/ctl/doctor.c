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

/* Whether they say the same, of whichever domains. */
static bool is_alike(const json_t *a, const json_t *b)
{
	static const char *const keys[] = { "grade", "what", "found", "advice" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
			return false;
	return true;
}

/* What is found alike in several domains becomes one finding with their names. */
static void add(void *userdata, const struct finding *finding)
{
	struct report *report = userdata;
	json_auto_t *new = json_pack("{s[] ss ss ss ss}", "domains", "grade",
				     finding_grade_name(finding->grade), "what", finding->what,
				     "found", finding->found, "advice", finding->advice);
	json_t *entry, *alike = NULL;
	size_t i;

	json_array_foreach(report->findings, i, entry)
		if (is_alike(entry, new))
			alike = entry;
	if (!alike)
		json_array_append(report->findings, alike = new);
	if (*finding->domain)
		json_array_append_new(json_object_get(alike, "domains"),
				      json_string(finding->domain));
	report->bad |= finding->grade == FINDING_BAD;
}

static void add_domain(struct report *report, const json_t *domain)
{
	const char *state = field_text(domain, "state"), *why = field_text(domain, "state_why");
	const char *name = field_text(domain, "name"), *backend = field_text(domain, "backend");
	bool yielded = field_is_word(domain, "state", "yielded");
	char found[256];

	snprintf(found, sizeof(found), "%s, backend %s%s%s", state ? state : "",
		 backend ? backend : "", why ? ": " : "", why ? why : "");
	add(report,
	    &(struct finding){
		    yielded ? FINDING_BAD : FINDING_GOOD, name ? name : "", "wakegovd", found,
		    yielded ? "stop the program that sets it, then: wakegovctl adopt" : "" });
}

/* Adds the daemon's status if one answers; it is no finding if none does. */
static void add_daemon(const struct ctl *ctl, struct report *report)
{
	json_t *reply = NULL;
	const json_t *domain;
	size_t i;

	if (ctl_try(ctl, "io.wakegov.Domains", ctl->timeout_ns, &reply) < 0) {
		add(report,
		    &(struct finding){ FINDING_NOTE, "", "wakegovd", "does not answer",
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

static size_t count_domains(const json_t *findings)
{
	json_auto_t *names = json_object();
	const json_t *finding, *name;
	size_t i, k;

	json_array_foreach(findings, i, finding)
		json_array_foreach(json_object_get(finding, "domains"), k, name)
			json_object_set_new(names, json_string_value(name), json_true());
	return json_object_size(names);
}

/* "policy0, policy2: ", "all 64 domains: "; "" for what is not of domains. */
static char *print_domains(const json_t *domains, size_t n_all)
{
	size_t n = json_array_size(domains), size, i;
	_cleanup_fclose_ FILE *file = NULL;
	const json_t *name;
	char *text = NULL;

	file = open_memstream(&text, &size);
	if (!file)
		return NULL;
	if (n > 2 && n == n_all)
		fprintf(file, "all %zu domains: ", n);
	else
		json_array_foreach(domains, i, name)
			fprintf(file, "%s%s", json_string_value(name), i + 1 < n ? ", " : ": ");
	fflush(file);
	return text;
}

void doctor_show(const json_t *findings)
{
	size_t n_domains = count_domains(findings), i;
	const json_t *finding;

	json_array_foreach(findings, i, finding) {
		_cleanup_free_ char *domains = print_domains(json_object_get(finding, "domains"),
							     n_domains);
		const char *advice = field_text(finding, "advice");

		paragraph_printf(stdout, field_text(finding, "grade"), "%s%s: %s",
				 domains ? domains : "", field_text(finding, "what"),
				 field_text(finding, "found"));
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
