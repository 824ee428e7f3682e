// SPDX-License-Identifier: GPL-2.0-only
#include "query/utf8.h"

#include <stdint.h>

/* The lowest code point that needs as many bytes: what is below is an overlong form. */
static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };

static size_t expected_length(uint8_t first)
{
	if (first < 0x80)
		return first ? 1 : 0;
	if ((first & 0xe0) == 0xc0)
		return 2;
	if ((first & 0xf0) == 0xe0)
		return 3;
	if ((first & 0xf8) == 0xf0)
		return 4;
	return 0;
}

size_t utf8_character_length(const char *text)
{
	const uint8_t *bytes = (const uint8_t *)text;
	size_t length = expected_length(bytes[0]);
	uint32_t code;

	if (length < 2)
		return length;

	code = bytes[0] & (0x7fu >> length);
	/* Stops at the string's NUL, which is no continuation. */
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < lowest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return length;
}
