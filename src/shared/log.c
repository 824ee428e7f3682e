// SPDX-License-Identifier: GPL-2.0-only
/* A line for each event: to the journal with its priority, else to stderr. */
#include "shared/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/text.h"

static int log_level = LOG_INFO;
static struct {
	void (*take)(void *userdata, const char *line);
	void *userdata;
} listener;

void log_set_level(int level)
{
	log_level = level;
}

bool log_is_shown(int level)
{
	return level <= log_level;
}

void log_set_listener(void (*take)(void *userdata, const char *line), void *userdata)
{
	listener.take = take;
	listener.userdata = userdata;
}

void log_notify(int level, const char *line)
{
	if (listener.take && level <= LOG_WARNING)
		listener.take(listener.userdata, line);
}

/* The variable is inherited, but stderr may have been redirected to another file since. */
bool log_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat status;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &status) == 0 && status.st_dev == device &&
	       status.st_ino == inode;
}

/* journald reads the <N> prefix; a person reads the program's name. */
void log_message(int level, const char *format, ...)
{
	char line[1024];
	va_list args;

	if (!log_is_shown(level))
		return;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	text_clean(line);

	log_notify(level, line);
	if (log_is_journal())
		fprintf(stderr, "<%d>%s\n", level, line);
	else
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, line);
}

int log_oom(void)
{
	log_error("out of memory");
	return -ENOMEM;
}
