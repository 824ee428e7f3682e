// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl import: rules of the policy from an application's file of schedqos, on standard
 *output.
 *
 *	{ "APP": { "qos": "QOS_BACKGROUND", "thread_qos": { "THREAD": "QOS_UTILITY" } } }
 *
 * APP is the name of a program, THREAD that of a thread; both may be patterns. A class of schedqos
 * is that of ours with the same name.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/settings.h"
#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

#define QOS_PREFIX "QOS_"

/* "QOS_USER_INTERACTIVE" as "user-interactive"; false: it is none. QOS_DEFAULT gives no class. */
static bool take_class(const char *qos, char ret[static POLICY_NAME_SIZE])
{
	size_t length;

	if (!qos || strncmp(qos, QOS_PREFIX, strlen(QOS_PREFIX)) != 0)
		return false;
	qos += strlen(QOS_PREFIX);
	length = strlen(qos);
	if (!length || length >= POLICY_NAME_SIZE)
		return false;
	for (size_t i = 0; i <= length; i++)
		ret[i] = qos[i] == '_' ? '-' : (char)tolower((unsigned char)qos[i]);
	if (!strcmp(ret, "default"))
		strcpy(ret, "none");
	return true;
}

/* "?" stands for blanks and commas, which divide patterns, and for line feeds. */
static void print_pattern(const char *key, const char *before, const char *pattern)
{
	printf("%s = %s", key, before);
	for (; *pattern; pattern++)
		putchar(isgraph((unsigned char)*pattern) && *pattern != ',' ? *pattern : '?');
	putchar('\n');
}

/* thread may be NULL. False: its class is unknown, which was printed. */
static bool print_rule(const char *app, const char *thread, const json_t *qos, unsigned int number)
{
	_cleanup_free_ char *shown = format_clean(app);
	char class[POLICY_NAME_SIZE];

	if (!take_class(json_string_value(qos), class)) {
		complain("%s has no class such as QOS_BACKGROUND", shown);
		return false;
	}
	printf("\n[rule schedqos-%u]\n", number);
	print_pattern("exe", "*/", app);
	if (thread)
		print_pattern("comm", "", thread);
	printf("class = %s\n", class);
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
	return good ? ctl_flush() : CTL_REFUSED;
}
