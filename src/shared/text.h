/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Text from other users: names of tasks, which any user may fill with any bytes, of units and
 * devices, of a recording's domains; paths. Each kind of output has one way for it:
 *
 *	terminal, journal, traces	text_clean()
 *	files of /run			as JSON, or not at all
 *	JSON that the daemon writes	field_text(), by text_first()
 *	JSON by jansson			cleaned before, as it refuses what is not UTF-8;
 *					with JSON_ENSURE_ASCII, as it escapes little itself
 *	HTML				as JSON with "<" escaped, of which a script makes text
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum text_kind {
	TEXT_END,
	TEXT_PLAIN,
	TEXT_UNSAFE,  /* obeyed or unseen: Unicode's Cc, Cf, Zl, Zp, and noncharacters */
	TEXT_INVALID, /* a byte that is of no UTF-8 character */
};

struct text_character {
	enum text_kind kind;
	uint32_t code;
	size_t length; /* bytes; 1 for an invalid one */
};

/* The first character of length bytes, or the end where length is 0. A NUL is unsafe. */
struct text_character text_first(const char *text, size_t length);

/* In place: "?" for each character that is unsafe and each byte that is invalid. Returns text. */
char *text_clean(char *text);

/* Appends to a text, which ends where size bytes are full. */
void text_append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Keeps in *closest, NULL at first, the name closest to typed so far: at most two letters, and less
 * than half of it, missing, added, wrong or swapped; or a beginning of it, of three letters or
 * more, whose dashes may be missing.
 */
void suggest_closest(const char *typed, const char *name, const char **closest);
