// SPDX-License-Identifier: GPL-2.0-only
#include "config/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/topology.h"
#include "shared/text.h"

#define POLICY_PREFIX "policy"

static bool is_printable_ascii(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f;
}

const char *policy_text_find_bad_byte(const char *line, size_t length)
{
	for (size_t i = 0; i < length;) {
		struct text_character c = text_look(line + i, length - i);

		/*
		 * Control characters are below U+00A0; other invisible ones are allowed in
		 * comments.
		 */
		if (c.kind == TEXT_INVALID ||
		    (c.kind == TEXT_UNSAFE && c.code < 0xa0 && c.code != '\t'))
			return line + i;
		i += c.length;
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

bool policy_text_is_domain(const char *name, uint32_t *ret_number)
{
	const char *number = name + strlen(POLICY_PREFIX);
	size_t n_digits;

	if (strncmp(name, POLICY_PREFIX, strlen(POLICY_PREFIX)) != 0)
		return false;
	n_digits = strspn(number, "0123456789");
	if (n_digits < 1 || n_digits > 4 || number[n_digits])
		return false;
	if (number[0] == '0' && n_digits > 1)
		return false;
	*ret_number = atoi(number);
	return *ret_number < TOPOLOGY_CPUS_MAX;
}
