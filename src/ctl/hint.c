// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl hint: gives tasks a class, and lists hints and classes. wakegovctl run: runs a command
 * as one of a class, or with a cap or floor of its own.
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

#define RUN_FAILED	 125 /* as of env(1) and timeout(1): not the command's own status */
#define RUN_NOT_EXECUTED 126
#define RUN_NOT_FOUND	 127
#define RUN_FOR_US	 (30 * 24 * 3600 * 1000000LL) /* the longest; it ends with the task */

static enum ctl_exit list(struct ctl *ctl)
{
	json_auto_t *hints = json_array(), *all = json_pack("{sO}", "hints", hints);
	enum ctl_exit code = ctl_call_pages(ctl, "io.wakegov.Hints", json_object(), "hints",
					    SIZE_MAX, hints);

	return code == CTL_OK ? ctl_print(ctl, all, "hints", NULL) : code;
}

enum ctl_exit command_hint(struct ctl *ctl)
{
	bool children = ctl_value(ctl, "children"), alone = ctl_value(ctl, "alone");
	const char *first = ctl->n_arguments ? ctl->arguments[0] : "list";
	uint64_t pid, us = 0;

	if (ctl->n_arguments <= 1 && !strcmp(first, "list"))
		return list(ctl);
	if (ctl->n_arguments == 1 && !strcmp(first, "classes"))
		return ctl_ask(ctl, "io.wakegov.Classes", NULL, "classes", NULL);
	if (ctl->n_arguments != 2 || !quantity_number(first, &pid) || !pid)
		return ctl_misuse(ctl, "expected a PID and a class, such as: wakegovctl hint 812 "
				       "background; 'wakegovctl hint classes' shows them");
	if (!ctl_duration(ctl, "for", &us))
		return CTL_USAGE;
	if (children && alone)
		return ctl_misuse(ctl, "give --children or --alone, not both");
	return ctl_ask(ctl, "io.wakegov.GiveHint",
		       json_pack("{sI so so* so*}", "pid", (json_int_t)pid, "class",
				 format_json(ctl->arguments[1]), "for_us", ctl_nonzero(us),
				 "children", children || alone ? json_boolean(children) : NULL),
		       "hint", NULL);
}

/* Asks for this process, which becomes the command: hint and override end with it. */
static enum ctl_exit prepare(const struct ctl *ctl, json_t *settings)
{
	const char *class = ctl_value(ctl, "class");
	enum ctl_exit code = CTL_OK;

	if (class)
		code = ctl_call(ctl, "io.wakegov.GiveHint",
				json_pack("{sb sI so}", "children", 1, "for_us",
					  (json_int_t)RUN_FOR_US, "class", format_json(class)),
				NULL);
	/* Only root and change-group may add an override. */
	if (code != CTL_OK || !json_object_size(settings))
		return code;
	return ctl_call(ctl, "io.wakegov.AddOverride",
			json_pack("{sb sI sO}", "children", 1, "for_us", (json_int_t)RUN_FOR_US,
				  "settings", settings),
			NULL);
}

enum ctl_exit command_run(struct ctl *ctl)
{
	json_auto_t *settings = json_object();
	int error;

	if (!ctl->n_arguments)
		return ctl_misuse(ctl, "expected a command: wakegovctl run --cap 30%% -- make -j8");
	if (override_settings(ctl, NULL, settings) != CTL_OK)
		return CTL_USAGE;
	if (!json_object_size(settings) && !ctl_value(ctl, "class"))
		return ctl_misuse(ctl, "give --cap, --floor, --response, --idle-latency, --class "
				       "or --no-boost");
	/* They are listed by the name that this process will have. */
	prctl(PR_SET_NAME, basename(ctl->arguments[0]));
	if (prepare(ctl, settings) != CTL_OK)
		return RUN_FAILED;
	execvp(ctl->arguments[0], ctl->arguments);
	error = errno;
	complain("cannot run %s: %s", ctl->arguments[0], strerror(error));
	return error == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTED;
}
