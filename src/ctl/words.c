// SPDX-License-Identifier: GPL-2.0-only
/*
 * words.json, which the build embeds, has all that is said about replies: sentences by the words
 * that replies have, templates, tables, and views, which are lists of lines. This file fills a
 * template with the fields of a reply. The page of report --html has the sentences too.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

#define SPEC_SIZE 64

static const char embedded[] =
#include "words.json.inc"
	;

/* Where the fields of a template are looked for: first in `of`, then in `more`. */
struct fields {
	const json_t *of, *more;
};

json_t *words_all(void)
{
	static json_t *all;

	if (!all)
		all = json_loads(embedded, 0, NULL);
	return all;
}

const json_t *field_at(const json_t *from, const char *path)
{
	char key[SPEC_SIZE];

	if (!strcmp(path, "."))
		return from;
	for (; *path && from; path += strspn(path, ".")) {
		size_t length = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)length, path);
		from = json_is_array(from) ? json_array_get(from, (size_t)atoi(key))
					   : json_object_get(from, key);
		path += length;
	}
	return from;
}

static const json_t *find(const struct fields *fields, const char *path)
{
	return field_at(fields->of, path) ?: field_at(fields->more, path);
}

static bool is_known(const json_t *value)
{
	return value && !json_is_null(value);
}

/* Known, and not false, 0 or empty. */
static bool is_true(const json_t *value)
{
	if (json_is_integer(value))
		return json_integer_value(value) != 0;
	if (json_is_string(value))
		return json_string_length(value) != 0;
	if (json_is_array(value) || json_is_object(value))
		return json_array_size(value) || json_object_size(value);
	return json_is_true(value) || json_is_real(value);
}

/* "key": it is true; "key=word": it is this word or number; "key^word": it begins with the word. */
static bool test(const struct fields *fields, char *condition)
{
	char *operator= strpbrk(condition, "=^"), kind = operator? *operator: '\0';
	const json_t *value;
	const char *word;

	if (operator)
		*operator++ = '\0';
	value = find(fields, condition);
	word = json_string_value(value);
	if (!kind)
		return is_true(value);
	if (json_is_integer(value))
		return json_integer_value(value) == atoll(operator);
	return word && !strncmp(word, operator, kind == '^' ? strlen(operator) : SIZE_MAX);
}

static FILE *open_text(char **text, size_t *size)
{
	FILE *out = open_memstream(text, size);

	if (!out)
		abort();
	return out;
}

/* Puts a part for an object, or for each of an array with the separator that follows ":". */
static bool put_part(const struct fields *fields, const json_t *value, char *part, FILE *out)
{
	char *colon = strchr(part, ':');
	const char *separator = "";
	size_t n = json_is_array(value) ? json_array_size(value) : is_known(value), n_put = 0;

	if (colon) {
		*colon = '\0';
		separator = colon + 1;
	}
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *one = words_fill(
			"parts", part, json_is_array(value) ? json_array_get(value, i) : value,
			fields->of);

		if (one)
			fprintf(out, "%s%s", n_put++ ? separator : "", one);
	}
	return n_put;
}

/*
 * Puts what stands between braces. Returns whether it is known, or, of a condition, which puts
 * nothing, whether it holds.
 *
 *	{key}         the value by the unit in its key      {key:unit}  by another unit
 *	{?condition}  {!condition}                          {key@group} the sentence for the word
 *	{>part}       another template                      {key>part}  the template of an object
 */
static bool put_field(const struct fields *fields, char *spec, FILE *out)
{
	char *mark = strpbrk(spec, ">@:"), kind = mark ? *mark : '\0';
	_cleanup_free_ char *shown = NULL;
	const json_t *value;
	const char *unit;

	if (*spec == '?' || *spec == '!')
		return test(fields, spec + 1) == (*spec == '?');
	unit = kind == ':' ? strdupa(mark) : strrchr(spec, '.') ?: spec;
	if (mark)
		*mark++ = '\0';
	value = *spec ? find(fields, spec) : fields->of;
	if (kind == '>')
		return put_part(*spec ? fields : &(struct fields){ fields->more, NULL }, value,
				mark, out);
	if (!is_known(value))
		return false;
	if (kind == '@')
		shown = words_fill(mark, json_string_value(value) ?: "", fields->of, fields->more);
	else
		shown = value_text(value, unit);
	fputs(shown ?: "", out);
	return shown;
}

static const char *put_choice(const struct fields *fields, const char *at, FILE *out, bool *ret);

/* Puts a template up to the end of an alternative. *known becomes false if a field is not known. */
static const char *put_alternative(const struct fields *fields, const char *at, FILE *out,
				   bool *known)
{
	char spec[SPEC_SIZE];
	bool any;

	while (*at && *at != '|' && *at != ']') {
		if (*at == '[') {
			at = put_choice(fields, at + 1, out, &any);
			at += *at == ']';
		} else if (*at == '{') {
			snprintf(spec, sizeof(spec), "%.*s", (int)strcspn(at + 1, "}"), at + 1);
			at += strcspn(at, "}");
			at += *at == '}';
			*known &= put_field(fields, spec, out);
		} else {
			at += *at == '\\' && at[1];
			fputc(*at++, out);
		}
	}
	return at;
}

/* Puts the first of the alternatives of which all is known. Returns where the last one ends. */
static const char *put_choice(const struct fields *fields, const char *at, FILE *out, bool *ret)
{
	for (*ret = false;; at++) {
		_cleanup_free_ char *alternative = NULL;
		bool known = true;
		size_t size;
		FILE *own = open_text(&alternative, &size);

		at = put_alternative(fields, at, own, &known);
		fclose(own);
		if (known && !*ret)
			fputs(alternative, out);
		*ret |= known;
		if (*at != '|')
			return at;
	}
}

char *words_text(const char *template, const json_t *of, const json_t *more)
{
	char *filled = NULL;
	bool is_known;
	size_t size;
	FILE *out = open_text(&filled, &size);

	put_choice(&(struct fields){ of, more }, template, out, &is_known);
	fclose(out);
	if (is_known)
		return filled;
	free(filled);
	return NULL;
}

char *words_fill(const char *group, const char *word, const json_t *of, const json_t *more)
{
	const char *template = field_text(json_object_get(words_all(), group), word);

	return template ? words_text(template, of, more) : NULL;
}
