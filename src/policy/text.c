// SPDX-License-Identifier: GPL-2.0-only
#include "policy/text.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 32

static bool is_printable_ascii(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f;
}

/* The length of the character that starts with lead, or 0 if none does. */
static size_t sequence_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return 0;
}

/* Overlong forms, surrogates and code points over U+10FFFF show in the second byte. */
static bool is_second_byte(unsigned char lead, unsigned char byte)
{
	unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
	unsigned char most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;

	return byte >= least && byte <= most;
}

static size_t character_length(const unsigned char *text, size_t length)
{
	size_t n = sequence_length(text[0]);

	if (n == 0 || n > length)
		return 0;
	if (n == 1)
		return is_printable_ascii(text[0]) || text[0] == '\t' ? 1 : 0;
	if (!is_second_byte(text[0], text[1]))
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

const char *policy_text_find_bad_byte(const char *line, size_t length)
{
	for (size_t i = 0, n; i < length; i += n) {
		n = character_length((const unsigned char *)line + i, length - i);
		if (n == 0)
			return line + i;
	}
	return NULL;
}

void policy_text_escape(const char *text, char ret[static POLICY_TEXT_SIZE])
{
	size_t length = strlen(text);
	size_t shown = length > POLICY_TEXT_SHOWN_MAX ? POLICY_TEXT_SHOWN_MAX : length;
	char *out = ret;

	for (size_t i = 0; i < shown; i++) {
		unsigned char byte = text[i];

		if (is_printable_ascii(byte))
			*out++ = byte;
		else
			out += sprintf(out, "\\x%02x", byte);
	}
	strcpy(out, shown < length ? "..." : "");
}

static unsigned int least_of(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein's distance, row by row. */
unsigned int policy_text_distance(const char *a, const char *b)
{
	unsigned int row[WORD_MAX + 1];
	size_t b_length = strlen(b);

	if (strlen(a) > WORD_MAX || b_length > WORD_MAX)
		return UINT_MAX;

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		unsigned int diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < b_length; j++) {
			unsigned int change = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			row[j + 1] = least_of(change, row[j] + 1, diagonal + 1);
		}
	}
	return row[b_length];
}
