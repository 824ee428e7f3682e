// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sentences for the words of replies: words.json, which the build embeds, has them by groups, and a
 * sentence has {key} in place of a field of the reply. The page of report --html has them too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

#define KEY_SIZE 32

static const char text[] =
#include "words.json.inc"
	;

json_t *words_all(void)
{
	static json_t *all;

	if (!all)
		all = json_loads(text, 0, NULL);
	return all;
}

char *words_fill(const char *group, const char *word, const json_t *of, const json_t *more)
{
	const char *at = field_text(json_object_get(words_all(), group), word);
	char *sentence = NULL, key[KEY_SIZE];
	size_t size;
	FILE *out;

	if (!at)
		return NULL;
	out = open_memstream(&sentence, &size);
	if (!out)
		abort();
	for (; *at; at = strchr(at, '}') + 1) {
		size_t plain = strcspn(at, "{");
		_cleanup_free_ char *value = NULL;

		fwrite(at, 1, plain, out);
		at += plain;
		if (sscanf(at, "{%31[a-z_]}", key) != 1)
			break;
		value = cell_value(json_object_get(of, key) ? of : more, key);
		fputs(value ?: "?", out);
	}
	fclose(out);
	return sentence;
}
