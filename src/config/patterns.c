// SPDX-License-Identifier: GPL-2.0-only
/*
 * The patterns of rules, as fnmatch(3) has them; for cgroups and units with their own separators
 * and systemd's escapes.
 */
#include "config/match.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "shared/cleanup.h"

#define PATH_SIZE 4096

size_t policy_patterns_length(const char *text, const char *stops)
{
	size_t length = 0;

	while (text[length] && !strchr(stops, text[length]))
		length += text[length] == '\\' && text[length + 1] ? 2 : 1;
	return length;
}

bool policy_patterns_next(const char **list, char ret[static POLICY_PATTERN_SIZE])
{
	const char *first = *list + strspn(*list, " \t");
	size_t length = policy_patterns_length(first, " \t");

	memcpy(ret, first, length);
	ret[length] = '\0';
	*list = first + length;
	return length > 0;
}

static bool is_cgroup(const char *pattern, const char *path)
{
	char above[PATH_SIZE];
	size_t length = strlen(path);
	char *slash;

	if (length >= sizeof(above))
		return false;
	memcpy(above, path, length + 1);
	while (fnmatch(pattern, above, FNM_PATHNAME) != 0) {
		slash = strrchr(above, '/');
		if (!slash || !above[1])
			return false;
		slash[slash == above] = '\0';
	}
	return true;
}

/* The next part of a cgroup's path, unescaped as systemd does. NULL: no more. */
static const char *next_part(const char *path, char ret[static PATH_SIZE])
{
	size_t length;

	path += *path == '/';
	length = strcspn(path, "/");
	if (!length || length >= PATH_SIZE)
		return NULL;
	memcpy(ret, path, length);
	ret[length] = '\0';
	/* systemd escapes a name that could be one of the kernel's files. */
	if (ret[0] == '_')
		memmove(ret, ret + 1, length);
	return path + length;
}

static bool is_slice(const char *part)
{
	return fnmatch("?*.slice", part, 0) == 0;
}

/*
 * As systemd's cg_path_get_unit(): slices, which only a manager makes, and the first unit behind
 * them, of one of the types that have cgroups. Names below that are chosen by the delegate.
 */
static bool is_unit(const char *pattern, const char *path)
{
	static const char *const types[] = {
		"?*.service", "?*.scope", "?*.socket", "?*.mount", "?*.swap",
	};
	char part[PATH_SIZE];
	bool has_cgroup = false;

	while ((path = next_part(path, part)) && is_slice(part))
		if (fnmatch(pattern, part, 0) == 0)
			return true;
	for (size_t i = 0; path && i < ARRAY_SIZE(types); i++)
		has_cgroup |= fnmatch(types[i], part, 0) == 0;
	return has_cgroup && fnmatch(pattern, part, 0) == 0;
}

/* As cg_path_get_user_unit(): the same below the service of a user's manager. */
static bool is_user_unit(const char *pattern, const char *path)
{
	char part[PATH_SIZE];

	do
		path = next_part(path, part);
	while (path && is_slice(part));
	return path && fnmatch("user@[0-9]*.service", part, 0) == 0 && is_unit(pattern, path);
}

bool match_text(const char *patterns, const char *text)
{
	char pattern[POLICY_PATTERN_SIZE];

	while (text && policy_patterns_next(&patterns, pattern))
		if (fnmatch(pattern, text, 0) == 0)
			return true;
	return false;
}

size_t match_unit_escape(const char *text)
{
	return text[0] == '\\' && text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
			       isxdigit((unsigned char)text[3])
		       ? 4
		       : 0;
}

/* Doubles the backslash of systemd's escapes, as it is part of the name; others quote. */
static void keep_escapes(const char *pattern, char ret[static 2 * POLICY_PATTERN_SIZE])
{
	while (*pattern) {
		if (match_unit_escape(pattern))
			*ret++ = '\\';
		else if (pattern[0] == '\\' && pattern[1])
			*ret++ = *pattern++;
		*ret++ = *pattern++;
	}
	*ret = '\0';
}

static bool is_any_group(const char *patterns, bool (*is_it)(const char *pattern, const char *path),
			 const char *path)
{
	char pattern[POLICY_PATTERN_SIZE], kept[2 * POLICY_PATTERN_SIZE];

	while (path && policy_patterns_next(&patterns, pattern)) {
		keep_escapes(pattern, kept);
		if (is_it(kept, path))
			return true;
	}
	return false;
}

bool match_cgroup(const char *patterns, const char *path)
{
	return is_any_group(patterns, is_cgroup, path);
}

bool match_unit(const char *patterns, const char *path)
{
	return is_any_group(patterns, is_unit, path);
}

bool match_user_unit(const char *patterns, const char *path)
{
	return is_any_group(patterns, is_user_unit, path);
}
