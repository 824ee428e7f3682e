// SPDX-License-Identifier: GPL-2.0-only
#include "config/patterns.h"

#include <string.h>

/* The length up to the first of `stops` without a backslash before it. */
static size_t length_to(const char *text, const char *stops)
{
	size_t length = 0;

	while (text[length] && !strchr(stops, text[length]))
		length += text[length] == '\\' && text[length + 1] ? 2 : 1;
	return length;
}

bool policy_patterns_next(const char **list, char ret[static POLICY_PATTERN_SIZE])
{
	const char *first = *list + strspn(*list, " \t");
	size_t length = length_to(first, " \t");

	memcpy(ret, first, length);
	ret[length] = '\0';
	*list = first + length;
	return length > 0;
}

bool policy_patterns_have_comma(const char *list)
{
	return list[length_to(list, ",")] == ',';
}
