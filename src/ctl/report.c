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

#include "config/draft.h"
#include "config/load.h"
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

/* The rule's number in the order of the rules. */
static unsigned int rule_number(const struct policy_origins *origins, const char *section)
{
	unsigned int n = 0;

	for (size_t i = 0; i < origins->n; i++) {
		const struct policy_origin *origin = &origins->entries[i];

		n += !origin->key[0] && !strncmp(origin->section, "rule ", strlen("rule "));
		if (!strcmp(origin->section, section))
			break;
	}
	return n;
}

/*
 * What a file sets; what is built in follows from the version. Of a rule only the keys, as its
 * name, patterns and class are chosen; of classes and profiles nothing; of a group only that there
 * is one. NULL: it may not be shown.
 */
static json_t *setting(const struct policy_origins *origins, const struct policy_origin *origin)
{
	const char *section = origin->section;

	if (!strcmp(origin->place.file, POLICY_BUILT_IN_FILE) || !origin->key[0] ||
	    !strncmp(section, "class ", strlen("class ")) ||
	    !strncmp(section, "profile ", strlen("profile ")))
		return NULL;
	if (!strncmp(section, "rule ", strlen("rule ")))
		return json_pack(
			"{so}", "key",
			json_sprintf("[rule %u] %s", rule_number(origins, section), origin->key));
	return json_pack("{so ss}", "key", json_sprintf("[%s] %s", section, origin->key), "value",
			 strstr(origin->key, "-group") ? "a group" : origin->value);
}

/* Reads the files as they are now; a daemon may not have read them yet. */
static json_t *configuration(void)
{
	_cleanup_free_ char *message = NULL;
	const struct policy_origins *origins;
	json_t *values = json_array();
	struct policy_files *files;
	int r = policy_files_read(WAKEGOV_POLICY_PATH, true, WAKEGOV_POLICY_PATH ".d", &files,
				  &message);

	/* A message about a line quotes the line. */
	if (r < 0)
		return json_pack("{ss}", "missing",
				 r == -EACCES ? "not for you to read; run this as root"
					      : "a mistake: see wakegovd --check-config");
	origins = policy_files_origins(files);
	for (size_t i = 0; i < origins->n; i++)
		json_array_append_new(values, setting(origins, &origins->entries[i]));
	policy_files_free(files);
	return json_pack("{so}", "values", values);
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
