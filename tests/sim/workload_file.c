// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/error.h"
#include "config/file.h"
#include "shared/cleanup.h"
#include "sim/workload.h"

static int add_line(const char *line, const struct platform *platform, struct policy_place place,
		    struct workload **list, uint32_t *n, char **ret_message)
{
	struct workload *more = reallocarray(*list, *n + 1, sizeof(**list));
	_cleanup_free_ char *message = NULL;
	int r;

	if (!more)
		return -ENOMEM;
	*list = more;
	r = workload_parse(line, platform, &more[*n], &message);
	if (r < 0)
		return policy_error_set(ret_message, r, place, "%s", message ?: "out of memory");
	++*n;
	return 0;
}

/* Without the comment and the blanks at both ends. */
static char *trim(char *line)
{
	size_t length;

	line[strcspn(line, "#")] = '\0';
	line += strspn(line, " \t\r");
	length = strlen(line);
	while (length && strchr(" \t\r", line[length - 1]))
		line[--length] = '\0';
	return line;
}

int workload_load(const char *path, const struct platform *platform, struct workload **ret,
		  uint32_t *ret_n, char **ret_message)
{
	struct policy_place place = { .file = path };
	_cleanup_free_ struct workload *list = NULL;
	_cleanup_free_ char *text = NULL;
	char *next, *line;
	uint32_t n = 0;
	size_t size;
	int r;

	*ret_message = NULL;
	r = policy_file_read(path, &text, &size, ret_message);
	if (r < 0)
		return r;
	for (next = text; (line = strsep(&next, "\n"));) {
		place.line++;
		line = trim(line);
		if (!*line)
			continue;
		r = add_line(line, platform, place, &list, &n, ret_message);
		if (r < 0)
			return r;
	}
	if (!n)
		return policy_error_set(ret_message, -EINVAL, (struct policy_place){ .file = path },
					"found no SPEC, expected one a line");
	*ret = take_ptr(list);
	*ret_n = n;
	return 0;
}
