/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What a line of a policy file may hold, and how a piece of it is shown to a person. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POLICY_TEXT_SHOWN_MAX 40 /* bytes of a value that an error message repeats */
#define POLICY_TEXT_SIZE      (4 * POLICY_TEXT_SHOWN_MAX + sizeof("..."))

/*
 * The first byte of line that does not belong in a text file: not UTF-8, or a control character
 * other than tab. NULL when there is none.
 */
const char *policy_text_find_bad_byte(const char *line, size_t length);

/*
 * Makes text fit for a message: every byte but the printable ASCII ones becomes \xNN, as no valid
 * value holds one and a look-alike letter is then seen; what is too long ends in "...".
 */
void policy_text_escape(const char *text, char ret[static POLICY_TEXT_SIZE]);

/* Whether name is what the kernel calls a domain: policyN, without leading zeros. */
bool policy_text_is_domain(const char *name, uint32_t *ret_number);
