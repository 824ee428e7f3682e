// SPDX-License-Identifier: GPL-2.0-only
/*
 * benefit: compares wakegov with another governor by an experiment of its own program, benefit.py,
 * which gets the checked options as JSON. In the build directory that lies beside wakegovctl.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define PROGRAM "wakegov-benefit"
/* As in benefit.py: the fewest pairs that give an interval, and what its ranks take in time. */
#define PAIRS_LEAST 8
#define PAIRS_MOST  1000
/* Two blocks in a row may be lent, and HandBack takes an hour at most. */
#define BLOCK_MOST_US (1800 * US_PER_S)

static enum ctl_exit run_program(const struct ctl *ctl, const char *options)
{
	_cleanup_free_ char **words = calloc((size_t)ctl->n_arguments + 3, sizeof(*words));
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof(PROGRAM));

	if (!words || !options)
		return CTL_REFUSED;
	words[0] = (char *)PROGRAM;
	words[1] = (char *)options;
	memcpy(words + 2, ctl->arguments, (size_t)ctl->n_arguments * sizeof(*words));
	path[length > 0 ? length : 0] = '\0';
	if (length > 0)
		strcpy(strrchr(path, '/') + 1, PROGRAM);
	if (access(path, X_OK) == 0)
		execv(path, words);
	execv(WAKEGOV_LIBEXECDIR "/" PROGRAM, words);
	complain("cannot run " WAKEGOV_LIBEXECDIR "/" PROGRAM ", which needs python3: %s",
		 strerror(errno));
	return CTL_REFUSED;
}

enum ctl_exit command_benefit(struct ctl *ctl)
{
	uint64_t for_us = 600 * US_PER_S, block_us = 10 * US_PER_S;
	_cleanup_free_ char *text = NULL;
	json_auto_t *options = NULL;
	enum ctl_exit code;

	if (!ctl_duration(ctl, "for", &for_us) || !ctl_duration(ctl, "block", &block_us))
		return CTL_USAGE;
	if (for_us / block_us < 2 * PAIRS_LEAST || for_us / block_us > 2 * PAIRS_MOST)
		return ctl_misuse(ctl, "--for must be %d to %d times as long as --block",
				  2 * PAIRS_LEAST, 2 * PAIRS_MOST);
	if (block_us > BLOCK_MOST_US)
		return ctl_misuse(ctl, "--block can be 30m at most");
	if (ctl_value(ctl, "figure") && !ctl->n_arguments)
		return ctl_misuse(ctl, "--figure is of a command: -- COMMAND");
	/* Says why, where there is no daemon. */
	code = ctl_call(ctl, "io.wakegov.Status", NULL, NULL);
	if (code != CTL_OK)
		return code;
	options = json_pack("{ss sI sb sI sI ss* ss* ss*}", "socket", ctl->path, "timeout_us",
			    (json_int_t)(ctl->timeout_ns / NS_PER_US), "json", ctl->json, "for_us",
			    (json_int_t)for_us, "block_us", (json_int_t)block_us, "against",
			    ctl_value(ctl, "against"), "figure", ctl_value(ctl, "figure"), "plot",
			    ctl_value(ctl, "plot"));
	text = json_dumps(options, JSON_COMPACT);
	return run_program(ctl, text);
}
