// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes text from other users safe for a terminal or the journal, and suggests names for mistyped
 * ones.
 */
#include "shared/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "shared/cleanup.h"

/* Unicode 15's Cc, Cf, Zl and Zp, and the noncharacters of its first plane. */
static const struct {
	uint32_t first, last;
} unsafe[] = {
	{ 0x0000, 0x001f },   { 0x007f, 0x009f },   { 0x00ad, 0x00ad },	  { 0x0600, 0x0605 },
	{ 0x061c, 0x061c },   { 0x06dd, 0x06dd },   { 0x070f, 0x070f },	  { 0x0890, 0x0891 },
	{ 0x08e2, 0x08e2 },   { 0x180e, 0x180e },   { 0x200b, 0x200f },	  { 0x2028, 0x202e },
	{ 0x2060, 0x2064 },   { 0x2066, 0x206f },   { 0xfdd0, 0xfdef },	  { 0xfeff, 0xfeff },
	{ 0xfff9, 0xfffb },   { 0x110bd, 0x110bd }, { 0x110cd, 0x110cd }, { 0x13430, 0x1343f },
	{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0001, 0xe0001 }, { 0xe0020, 0xe007f },
};

static bool is_unsafe(uint32_t code)
{
	/* The last two of each plane are noncharacters. */
	if ((code & 0xfffe) == 0xfffe)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(unsafe); i++)
		if (code >= unsafe[i].first && code <= unsafe[i].last)
			return true;
	return false;
}

/*
 * The code point of a whole character, or UINT32_MAX: cut, overlong, a surrogate, too high.
 * *ret_length is the number of its bytes.
 */
static uint32_t decode(const uint8_t *bytes, size_t length, size_t *ret_length)
{
	/* The lowest code point of each length: a lower one is an overlong form. */
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint8_t first = bytes[0];
	size_t expected = first < 0x80		   ? 1
			  : (first & 0xe0) == 0xc0 ? 2
			  : (first & 0xf0) == 0xe0 ? 3
			  : (first & 0xf8) == 0xf0 ? 4
						   : 0;
	uint32_t code = expected == 1 ? first : first & (0x7fu >> expected);

	*ret_length = expected;
	if (!expected || expected > length)
		return UINT32_MAX;
	for (size_t i = 1; i < expected; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return UINT32_MAX;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < lowest[expected] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return UINT32_MAX;
	return code;
}

struct text_character text_first(const char *text, size_t length)
{
	const uint8_t *bytes = (const uint8_t *)text;
	size_t expected;
	uint32_t code;

	if (!length)
		return (struct text_character){ .kind = TEXT_END };
	code = decode(bytes, length, &expected);
	if (code == UINT32_MAX)
		return (struct text_character){ TEXT_INVALID, bytes[0], 1 };
	return (struct text_character){ is_unsafe(code) ? TEXT_UNSAFE : TEXT_PLAIN, code,
					expected };
}

char *text_clean(char *text)
{
	size_t length = strlen(text);
	char *end = text, *at = text;

	for (;;) {
		struct text_character c = text_first(at, length);

		if (c.kind == TEXT_END)
			break;
		/* What is clean is never ahead of the reading. */
		if (c.kind == TEXT_PLAIN)
			end = (char *)memmove(end, at, c.length) + c.length;
		else
			*end++ = '?';
		at += c.length;
		length -= c.length;
	}
	*end = '\0';
	return text;
}

void text_append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

#define WORD_MAX 32
#define SLIP_MAX 2

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance, with a swap of neighbours as one step. UINT_MAX for long words. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int steps[WORD_MAX + 1][WORD_MAX + 1];
	size_t length_a = strlen(a), length_b = strlen(b);

	if (length_a > WORD_MAX || length_b > WORD_MAX)
		return UINT_MAX;
	for (size_t i = 0; i <= length_a; i++)
		steps[i][0] = i;
	for (size_t j = 0; j <= length_b; j++)
		steps[0][j] = j;

	for (size_t i = 1; i <= length_a; i++) {
		for (size_t j = 1; j <= length_b; j++) {
			unsigned int changed = steps[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			unsigned int shifted = least(steps[i - 1][j], steps[i][j - 1]) + 1;

			steps[i][j] = least(changed, shifted);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				steps[i][j] = least(steps[i][j], steps[i - 2][j - 2] + 1);
		}
	}
	return steps[length_a][length_b];
}

#define SHORT_LEAST 3

static const char *skip_dashes(const char *text)
{
	return text + strspn(text, "-_");
}

/* Whether typed begins the name, dashes aside: maxfreq. */
static bool is_short_for(const char *typed, const char *name)
{
	size_t n = 0;

	for (; *(typed = skip_dashes(typed)); typed++, name++, n++) {
		name = skip_dashes(name);
		if (tolower((unsigned char)*typed) != tolower((unsigned char)*name))
			return false;
	}
	return n >= SHORT_LEAST;
}

void suggest_closest(const char *typed, const char *name, const char **closest)
{
	unsigned int steps = distance(typed, name);

	if (steps > SLIP_MAX && is_short_for(typed, name))
		steps = SLIP_MAX;
	else if (2 * steps >= strlen(name))
		return;
	if (steps <= SLIP_MAX && (!*closest || steps < distance(typed, *closest)))
		*closest = name;
}
