// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl import: rules of the policy from an application's file of schedqos, on standard
 * output. schedqos knows a program by the name that it was called by, a rule by its file: so a
 * name that is a link here becomes the file's name as well.
 *
 *	{ "APP": { "qos": "QOS_BACKGROUND", "thread_qos": { "THREAD": "QOS_UTILITY" } } }
 *
 * APP is the name of a program, THREAD that of a thread; both may be patterns. A class of schedqos
 * is that of ours with the same name.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/settings.h"
#include "ctl/command.h"
#include "ctl/format.h"
#include "shared/cleanup.h"

#define QOS_PREFIX "QOS_"

static void print_pattern(const char *before, const char *name)
{
	_cleanup_free_ char *pattern = format_pattern(name);

	printf("%s%s", before, pattern ?: "?");
}

/* Prints the program, and what the links of its name in PATH lead to. */
static void print_program(const char *app)
{
	const char *directory = getenv("PATH") ?: "";
	_cleanup_free_ char *shown = format_clean(app);
	char last[NAME_MAX + 1] = "";
	size_t n_found = 0;

	print_pattern("exe = */", app);
	for (; *directory; directory += strcspn(directory, ":"), directory += *directory == ':') {
		int length = (int)strcspn(directory, ":");
		char pattern[PATH_MAX], file[PATH_MAX];
		glob_t found = { 0 };

		snprintf(pattern, sizeof(pattern), "%.*s/%s", length, directory, app);
		glob(pattern, 0, NULL, &found);
		n_found += found.gl_pathc;
		for (size_t i = 0; i < found.gl_pathc && realpath(found.gl_pathv[i], file); i++) {
			const char *name = strrchr(file, '/') + 1;

			/* As /bin and /usr/bin, which are one, have the same. */
			if (fnmatch(app, name, 0) == 0 || !strcmp(name, last))
				continue;
			snprintf(last, sizeof(last), "%s", name);
			print_pattern(" */", name);
		}
		globfree(&found);
	}
	putchar('\n');
	if (!n_found)
		complain("no program here is called %s, so its rule matches none until one is",
			 shown);
}

/*
 * Prints the rule of an application or, if thread is not NULL, of one of its threads.
 * "QOS_USER_INTERACTIVE" is the class "user-interactive", QOS_DEFAULT none. False: its class is
 * unknown, which was printed.
 */
static bool print_rule(const char *app, const char *thread, const json_t *qos, unsigned int number)
{
	const char *name = json_string_value(qos) ?: "";
	_cleanup_free_ char *shown = format_clean(app);
	size_t prefix = strlen(QOS_PREFIX), length = strlen(name);
	char class[POLICY_NAME_SIZE];

	if (strncmp(name, QOS_PREFIX, prefix) != 0 || length == prefix ||
	    length - prefix >= sizeof(class)) {
		complain("%s has no class such as QOS_BACKGROUND", shown);
		return false;
	}
	for (size_t i = prefix; i <= length; i++)
		class[i - prefix] = name[i] == '_' ? '-' : (char)tolower((unsigned char)name[i]);
	printf("\n[rule schedqos-%u]\n", number);
	print_program(app);
	if (thread)
		print_pattern("comm = ", thread);
	printf("%sclass = %s\n", thread ? "\n" : "", !strcmp(class, "default") ? "none" : class);
	return true;
}

/* Rules of threads come first, as the first rule that matches a task wins. */
static bool print_app(const char *app, const json_t *entry, unsigned int *number)
{
	json_t *threads = json_object_get(entry, "thread_qos"), *qos;
	_cleanup_free_ char *shown = format_clean(app);
	const char *thread;
	bool good = json_is_object(entry);

	if (!good)
		complain("'%s' is not an object with qos", shown);
	json_object_foreach(threads, thread, qos)
		good &= print_rule(app, thread, qos, ++*number);
	qos = json_object_get(entry, "qos");
	if (qos)
		good &= print_rule(app, NULL, qos, ++*number);
	return good;
}

enum ctl_exit command_import(struct ctl *ctl)
{
	_cleanup_free_ char *path = NULL;
	unsigned int number = 0;
	json_auto_t *apps = NULL;
	json_error_t error;
	const char *app;
	json_t *entry;
	bool good = true;

	if (ctl->n_arguments != 1)
		return ctl_misuse(ctl, "expected one file of schedqos: configs/app_configs/*.json");
	path = format_clean(ctl->arguments[0]);
	apps = json_load_file(ctl->arguments[0], 0, &error);
	if (!json_is_object(apps)) {
		if (apps)
			complain("%s: expected an object of applications", path);
		else if (error.line > 0)
			complain("%s:%d: %s", path, error.line, error.text);
		else
			complain("%s", error.text);
		return CTL_REFUSED;
	}
	printf("# By wakegovctl import, from %s. Its periods and slices have no place here.\n",
	       path);
	json_object_foreach(apps, app, entry)
		good &= print_app(app, entry, &number);
	if (good && !number) {
		complain("%s has no application with qos or thread_qos: expected one of schedqos' "
			 "configs/app_configs/*.json",
			 path);
		return CTL_REFUSED;
	}
	return good ? ctl_flush() : CTL_REFUSED;
}
