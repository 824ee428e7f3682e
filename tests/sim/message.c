// SPDX-License-Identifier: GPL-2.0-only
#include "sim/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int sim_refuse(char **ret_message, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(ret_message, format, args) < 0)
		*ret_message = NULL;
	va_end(args);
	return -EINVAL;
}
