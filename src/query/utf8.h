/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stddef.h>

/*
 * The bytes of the UTF-8 character at text, 1…4, or 0 if there is none: a stray or missing
 * continuation, an overlong form, a surrogate, beyond U+10FFFF, or the end of the string.
 */
size_t utf8_character_length(const char *text);
