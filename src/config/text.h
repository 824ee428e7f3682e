/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Which characters a line of a policy file may have, and how text is shown in messages. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POLICY_TEXT_SHOWN_MAX 40 /* bytes of a value that an error message repeats */
#define POLICY_TEXT_SIZE      (4 * POLICY_TEXT_SHOWN_MAX + sizeof("..."))

/*
 * The first byte of line that is not valid in a text file: not UTF-8, or a control character other
 * than tab. NULL: there is none.
 */
const char *policy_text_find_bad_byte(const char *line, size_t length);

/*
 * Makes text safe for a message: every byte that is not printable ASCII becomes \xNN. No valid
 * value has one, and look-alike letters become visible. A long text ends in "...".
 */
void policy_text_escape(const char *text, char ret[static POLICY_TEXT_SIZE]);

/* Whether name is a kernel's name of a domain: policyN, without leading zeros. */
bool policy_text_is_domain(const char *name, uint32_t *ret_number);
