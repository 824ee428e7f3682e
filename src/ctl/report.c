// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl report: what is needed to help with a problem, in one text that may be shown to
 * strangers. Command lines are not in it, and names that people chose are taken out. Each part
 * stands alone: where one cannot be had, it says why.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "config/keys.h"
#include "config/load.h"
#include "core/rule.h"
#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"
#include "shared/version.h"

#define DECISIONS_MAX 50
#define CPUFREQ	      "/sys/devices/system/cpu/cpufreq"

/* the replacement; NULL: may be shown */
static const char *replacement(const char *key, const char *text)
{
	static const struct {
		const char *key, *text;
	} private[] = {
		{ "comm", "a task" },
		{ "rule", "a rule" },
		{ "last_error", "(left out: it may hold names)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(private); i++)
		if (!strcmp(key, private[i].key))
			return private[i].text;
	return !strcmp(key, "path") && strncmp(text, "/etc/", strlen("/etc/")) != 0 ? "another file"
										    : NULL;
}

/* Removes private values from a reply, but not that they were there. */
static void remove_names(json_t *value)
{
	const char *key;
	json_t *inner;
	size_t i;

	json_array_foreach(value, i, inner)
		remove_names(inner);
	json_object_foreach(value, key, inner) {
		/* The rule of a decision is an object with its name and file. */
		const char *text = json_is_object(inner) && !strcmp(key, "rule")
					   ? field_text(inner, "name")
					   : json_string_value(inner);
		const char *instead = text ? replacement(key, text) : NULL;

		if (instead)
			json_object_set_new(value, key, json_string(instead));
		else
			remove_names(inner);
	}
}

/* A reply without names, or {"missing": reason}. */
static json_t *ask(const struct ctl *ctl, const char *method)
{
	json_t *reply = NULL;
	int r = ctl_try(ctl, method, NULL, &reply);

	if (r == -ENOENT || r == -ECONNREFUSED)
		return json_pack("{ss}", "missing", "no wakegovd answers here");
	if (r < 0 && r != -EACCES)
		return json_pack("{ss}", "missing", strerror(-r));
	if (!reply)
		return json_pack("{ss}", "missing", "no permission to ask wakegovd");
	remove_names(reply);
	return reply;
}

static void add_driver(const char *policy, void *drivers)
{
	char driver[64], governor[64];

	if (sysfs_read_line(driver, sizeof(driver), "%s/scaling_driver", policy) &&
	    sysfs_read_line(governor, sizeof(governor), "%s/scaling_governor", policy))
		json_object_set_new(drivers, strrchr(policy, '/') + 1,
				    json_sprintf("%s (%s)", driver, governor));
}

/* Without the host name. The library is the one that wakegovd loads; this program needs none. */
static json_t *versions(const json_t *status)
{
	void *library = dlopen("libbpf.so.1", RTLD_LAZY);
	const char *(*libbpf)(void) = library ? dlsym(library, "libbpf_version_string") : NULL;
	json_t *drivers = json_object(), *found;
	struct utsname kernel;

	sysfs_each(add_driver, drivers, CPUFREQ "/policy*");
	uname(&kernel);
	found = json_pack("{ss ss* so ss so}", "wakegovctl", wakegov_version, "wakegovd",
			  field_text(status, "version"), "kernel",
			  json_sprintf("%s %s %s %s", kernel.sysname, kernel.release,
				       kernel.version, kernel.machine),
			  "libbpf", libbpf ? libbpf() : "not found", "drivers", drivers);
	if (library)
		dlclose(library);
	return found;
}

static void add_values(json_t *values, const char *section, enum policy_section of,
		       const void *base, const void *defaults, uint32_t given)
{
	size_t n;
	const struct policy_key *keys = policy_keys_get(&n);

	for (size_t i = 0; i < n; i++) {
		struct policy_value value, built_in;
		_cleanup_free_ char *text = NULL;
		char name[96];

		if (keys[i].section != of || (given && !(given & keys[i].domain_bit)))
			continue;
		policy_key_load(&keys[i], base, &value);
		policy_key_load(&keys[i], defaults, &built_in);
		text = policy_value_format(&keys[i], &value);
		snprintf(name, sizeof(name), "[%s] %s", section, keys[i].name);
		json_array_append_new(values, json_pack("{ss ss* sb}", "key", name, "value", text,
							"is_default",
							!given && value.kind == built_in.kind &&
								value.number == built_in.number));
	}
}

/* Lists the keys of rules, but no patterns: those contain names. */
static void add_rules(json_t *rules, const struct policy *policy)
{
	const struct policy_rule_key *key;

	for (uint32_t i = 0; i < policy->n_rules; i++) {
		const struct policy_rule *rule = &policy->rules[i];
		json_t *by = json_array(), *gives = json_array();

		for (size_t j = 0; (key = policy_match_key_at(j)); j++)
			if (rule->match.given & key->match)
				json_array_append_new(by, json_string(key->name));
		for (int j = 0; j < RULE_PROPERTIES; j++)
			if (rule_level(&rule->properties, j)->kind != POLICY_LEVEL_NONE)
				json_array_append_new(gives,
						      json_string(policy_property_key(j)->name));
		json_array_append_new(
			rules, json_pack("{si so so}", "number", i + 1, "by", by, "gives", gives));
	}
}

/* Reads the files as they are now; a daemon may not have read them yet. */
static json_t *configuration(void)
{
	_cleanup_free_ char *message = NULL;
	json_t *values, *rules;
	struct policy policy, defaults;
	int r = policy_load(WAKEGOV_POLICY_PATH, true, WAKEGOV_POLICY_PATH ".d", &policy, &message);

	/* A message about a line quotes the line. */
	if (r < 0)
		return json_pack("{ss}", "missing",
				 r == -EACCES ? "not for you to read; run this as root"
					      : "a mistake: see wakegovd --check-config");
	values = json_array();
	rules = json_array();
	policy_init(&defaults);
	for (int i = 0; i < POLICY_SECTIONS; i++) {
		bool of_domain = i == POLICY_SECTION_DOMAIN;

		add_values(values, policy_section_name(i), i,
			   of_domain ? (void *)&policy.domain : &policy,
			   of_domain ? (void *)&defaults.domain : &defaults, 0);
	}
	for (uint32_t i = 0; i < policy.n_domain_sections; i++) {
		const struct policy_domain_section *section = &policy.domain_sections[i];
		char name[48];

		snprintf(name, sizeof(name), "domain %s", section->name);
		add_values(values, name, POLICY_SECTION_DOMAIN, &section->values, &defaults.domain,
			   section->given);
	}
	add_rules(rules, &policy);
	return json_pack("{so so}", "values", values, "rules", rules);
}

/* Only the newest. */
static json_t *decisions(const struct ctl *ctl)
{
	json_t *reply = ask(ctl, "io.wakegov.Decisions");
	json_t *all = json_object_get(reply, "decisions");

	while (json_array_size(all) > DECISIONS_MAX)
		json_array_remove(all, 0);
	return reply;
}

static void show(json_t *report)
{
	static const struct {
		const char *key, *title;
		void (*add)(json_t *part);
	} parts[] = {
		{ "versions", "Versions" },
		{ "doctor", "Doctor", doctor_add },
		{ "status", "Status", status_add_programs },
		{ "configuration", "Configuration, as the files are now" },
		{ "decisions", "Decisions" },
	};

	puts("wakegov report, without names of users, tasks or rules, and without command lines");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		json_t *part = json_object_get(report, parts[i].key);
		bool is_missing = field_text(part, "missing");

		printf("\n== %s\n", parts[i].title);
		if (!is_missing && parts[i].add)
			parts[i].add(part);
		view_print(stdout, is_missing ? "missing" : parts[i].key, part);
	}
}

static enum ctl_exit report_text(struct ctl *ctl)
{
	json_t *status = ask(ctl, "io.wakegov.Status");
	bool ignored;
	json_auto_t *report = NULL;

	json_object_set_new(status, "machine", machine_find("/sys"));
	report = json_pack("{so so* so so so}", "versions", versions(status), "doctor",
			   doctor_findings(ctl, &ignored), "status", status, "configuration",
			   configuration(), "decisions", decisions(ctl));
	if (ctl->json)
		return ctl_print(ctl, report, NULL, NULL);
	show(report);
	return ctl_flush();
}

enum ctl_exit command_report(struct ctl *ctl)
{
	const char *path = ctl_value(ctl, "html");

	if (!path && ctl_value(ctl, "from"))
		return ctl_misuse(ctl, "--from needs --html FILE, the page to write");
	if (!path)
		return report_text(ctl);
	return ctl_value(ctl, "from") ? report_html_of_recording(ctl, path)
				      : report_html(ctl, path);
}
