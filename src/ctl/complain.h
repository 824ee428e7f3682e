/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Prints failures on standard error: what failed, why, and what to do. */

#include <jansson.h>

/* The exit codes of wakegovctl; documented in wakegovctl(1) and --help. */
enum ctl_exit {
	CTL_OK = 0,
	CTL_REFUSED = 1,     /* the daemon refused, or the call failed */
	CTL_USAGE = 2,	     /* the command line is wrong */
	CTL_UNREACHABLE = 3, /* no daemon answers on the socket, or it may not be opened */
	CTL_LOST = 4,	     /* the connection broke or timed out after it was made */
	CTL_DIFFERS = 5,     /* a replay decided differently from the recording */
};

/* Prints "wakegovctl: …" and a line feed. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for each line of text, with `before` in front of the first. */
void complain_lines(const char *before, const char *text);

/* Says why caller_open() failed. */
enum ctl_exit complain_open(const char *path, int error);

/* Says why caller_call() failed. */
enum ctl_exit complain_call(const char *path, int error);

/* Says what the daemon's error reply means. */
enum ctl_exit complain_refusal(const char *command, const char *method, const json_t *reply);
