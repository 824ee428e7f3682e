// SPDX-License-Identifier: GPL-2.0-only
#include "config/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/text.h"
#include "core/settings.h"
#include "shared/cleanup.h"
#include "shared/text.h"

int policy_error_set(char **ret_message, int error, struct policy_place place, const char *format,
		     ...)
{
	_cleanup_free_ char *sentence = NULL;
	char *message;
	va_list args;
	int r;

	*ret_message = NULL;

	va_start(args, format);
	r = vasprintf(&sentence, format, args);
	va_end(args);
	if (r < 0) {
		sentence = NULL;
		return error;
	}

	if (place.line)
		r = asprintf(&message, "%s:%u: %s", place.file, place.line, sentence);
	else
		r = asprintf(&message, "%s: %s", place.file, sentence);
	if (r < 0)
		return error;

	/* A file's name may hold a newline. */
	*ret_message = text_clean(message);
	return error;
}

int policy_error_set_unknown_key(char **ret_message, struct policy_place place, const char *section,
				 const char *name, const char *list, const char *closest)
{
	char shown[POLICY_TEXT_SIZE];

	policy_text_escape(name, shown);
	return policy_error_set(ret_message, -EINVAL, place,
				"unknown key '%s' in [%s]; expected one of %s%s%s%s", shown,
				section, list, closest ? "; did you mean '" : "", closest ?: "",
				closest ? "'?" : "");
}

/* Characters that show well in tables and messages, and need no quotes in a shell. */
static bool is_good_name(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789-_.@:");

	return length > 0 && length < POLICY_NAME_SIZE && !name[length];
}

int policy_error_check_name(struct policy_place place, const char *section, const char *name,
			    char **ret_message)
{
	char shown[POLICY_TEXT_SIZE];

	if (is_good_name(name))
		return 0;
	policy_text_escape(section, shown);
	return policy_error_set(ret_message, -EINVAL, place,
				"unknown section [%s]; expected a name of 1 to %d letters, digits "
				"and -_.@: after the blank",
				shown, POLICY_NAME_SIZE - 1);
}

static unsigned int count_lines(const char *list)
{
	unsigned int n = 1;

	while ((list = strchr(list, '\n'))) {
		list++;
		n++;
	}
	return n;
}

void policy_error_append(char **list, char *sentence)
{
	static const char more[] = "and more; mend these first";
	_cleanup_free_ char *added = sentence, *before = *list;
	unsigned int n = before ? count_lines(before) : 0;

	if (!before) {
		*list = take_ptr(added);
	} else if (!sentence || strstr(before, more) ||
		   asprintf(list, "%s\n%s", before, n < POLICY_FAULTS_SHOWN ? added : more) < 0) {
		*list = take_ptr(before);
	}
}
