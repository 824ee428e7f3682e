// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool style_is_used(FILE *file)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return fileno(file) >= 0 && isatty(fileno(file)) && !(no_color && *no_color) && terminal &&
	       *terminal && strcmp(terminal, "dumb") != 0;
}

const char *style_bold(FILE *file)
{
	return style_is_used(file) ? "\033[1m" : "";
}

const char *style_plain(FILE *file)
{
	return style_is_used(file) ? "\033[0m" : "";
}
