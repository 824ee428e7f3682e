// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page of report --html is page.html, which the build embeds, with lines of JSON in its place
 * for data. Its script draws them. As "<" is escaped, no name can end the script element.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/command.h"
#include "shared/cleanup.h"

#define MARK "{{data}}"

static const char template[] =
#include "page.html.inc"
	;

FILE *page_open(const char *path)
{
	FILE *out = ctl_open_output(path);

	if (out)
		fwrite(template, 1, (size_t)(strstr(template, MARK) - template), out);
	return out;
}

void page_put(FILE *out, const char *json)
{
	for (; *json; json++)
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fputc(*json, out);
	fputc('\n', out);
}

void page_put_object(FILE *out, json_t *object)
{
	_cleanup_free_ char *json = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);

	page_put(out, json ?: "{}");
	json_decref(object);
}

enum ctl_exit page_close(FILE *out, const char *path, enum ctl_exit code)
{
	fputs(strstr(template, MARK) + strlen(MARK), out);
	return ctl_close_output(out, path, code);
}
