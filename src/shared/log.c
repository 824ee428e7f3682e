// SPDX-License-Identifier: GPL-2.0-only
#include "shared/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int log_level = LOG_INFO;

void log_set_level(int level)
{
	log_level = level;
}

/* With JOURNAL_STREAM set, journald reads the <N> prefix; a person reads the program's name. */
void log_message(int level, const char *format, ...)
{
	char line[1024];
	va_list args;

	if (level > log_level)
		return;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);

	if (getenv("JOURNAL_STREAM"))
		fprintf(stderr, "<%d>%s\n", level, line);
	else
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, line);
}
