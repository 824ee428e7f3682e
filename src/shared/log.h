/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * One line per event: to the journal with its priority when stderr leads there, else to stderr with
 * the program's name before it. Library code logs at debug at
 * most; the caller that can say what to do about it logs once.
 */

#include <stdbool.h>
#include <syslog.h>

/* The lowest priority that is shown: LOG_INFO at start. */
void log_set_level(int level);

bool log_is_shown(int level);

/* Whether standard error leads to the journal (JOURNAL_STREAM in systemd.exec(5)). */
bool log_is_journal(void);

/*
 * From now on `take` also gets each line of LOG_WARNING and above, for a client that waits for the
 * result of its call. NULL ends this.
 */
void log_set_listener(void (*take)(void *userdata, const char *line), void *userdata);
/* Passes the listener a line that did not pass log_message(). */
void log_notify(int level, const char *line);

void log_message(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(...)	 log_message(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)	 log_message(LOG_INFO, __VA_ARGS__)
#define log_notice(...)	 log_message(LOG_NOTICE, __VA_ARGS__)
#define log_warning(...) log_message(LOG_WARNING, __VA_ARGS__)
#define log_error(...)	 log_message(LOG_ERR, __VA_ARGS__)

/* For a failure that prevents going on. Returns -ENOMEM. */
int log_oom(void);
