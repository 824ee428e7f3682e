// SPDX-License-Identifier: GPL-2.0-only
/*
 * benefit, import, measure-power: each a Python program of its own (benefit.py, suite.py,
 * import.py, measure-power.py), which gets the options as JSON. In the build directory they lie
 * beside wakegovctl.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "shared/cleanup.h"
#include "shared/time.h"

/* Becomes the program, with the options that all of them have. Consumes options. */
static enum ctl_exit run_program(const struct ctl *ctl, const char *name, json_t *options)
{
	_cleanup_free_ char **words = calloc((size_t)ctl->n_arguments + 3, sizeof(*words));
	_cleanup_free_ char *text = NULL;
	char path[4096], installed[256];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof(installed));

	json_object_update_new(options, json_pack("{ss sI sb}", "socket", ctl->path, "timeout_us",
						  (json_int_t)(ctl->timeout_ns / NS_PER_US), "json",
						  ctl->json));
	text = json_dumps(options, JSON_COMPACT);
	json_decref(options);
	if (!words || !text)
		return CTL_REFUSED;
	words[0] = (char *)name;
	words[1] = text;
	memcpy(words + 2, ctl->arguments, (size_t)ctl->n_arguments * sizeof(*words));
	path[length > 0 ? length : 0] = '\0';
	if (length > 0)
		strcpy(strrchr(path, '/') + 1, name);
	execv(path, words);
	snprintf(installed, sizeof(installed), WAKEGOV_LIBEXECDIR "/%s", name);
	execv(installed, words);
	complain("cannot run %s, which needs python3: %s", installed, strerror(errno));
	return CTL_REFUSED;
}

enum ctl_exit command_benefit(struct ctl *ctl)
{
	uint64_t for_us = 600 * US_PER_S, block_us = 10 * US_PER_S;
	enum ctl_exit code;

	if (!ctl_duration(ctl, "for", &for_us) || !ctl_duration(ctl, "block", &block_us))
		return CTL_USAGE;
	if (ctl_value(ctl, "suite"))
		return run_program(ctl, "wakegov-suite",
				   json_pack("{sI}", "for_us", (json_int_t)for_us));
	/* Says why, where there is no daemon. */
	code = ctl_call(ctl, "io.wakegov.Status", NULL, NULL);
	if (code != CTL_OK)
		return code;
	return run_program(ctl, "wakegov-benefit",
			   json_pack("{sI sI ss* ss* ss*}", "for_us", (json_int_t)for_us,
				     "block_us", (json_int_t)block_us, "against",
				     ctl_value(ctl, "against"), "figure", ctl_value(ctl, "figure"),
				     "plot", ctl_value(ctl, "plot")));
}

enum ctl_exit command_import(struct ctl *ctl)
{
	if (ctl->n_arguments != 1)
		return ctl_misuse(ctl, "expected one file of schedqos: configs/app_configs/*.json");
	return run_program(ctl, "wakegov-import", json_object());
}

enum ctl_exit command_measure_power(struct ctl *ctl)
{
	uint64_t for_us = 30 * US_PER_S;

	if (!ctl_duration(ctl, "for", &for_us))
		return CTL_USAGE;
	return run_program(ctl, "wakegov-measure-power",
			   json_pack("{sI}", "for_us", (json_int_t)for_us));
}
