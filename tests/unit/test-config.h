/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the tests of the policy file share: a text in, a message or a policy out. */

#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "config/draft.h"
#include "shared/cleanup.h"

#define TEST_FILE "wakegov.conf"

/* Of a draft that is all zero, or was used before. */
static inline void test_draft_init(struct policy_draft *draft)
{
	policy_draft_deinit(draft);
	policy_draft_init(draft);
}

/*
 * Parses and checks text as a file of the given name. Returns the message, which the caller frees,
 * or NULL if the text is valid. The text is parsed from a copy without a NUL behind it, so that
 * valgrind and the address sanitizer see a read past its end.
 */
static inline char *test_policy_parse(struct policy_draft *draft, const char *file,
				      const char *text, size_t size)
{
	char *copy = malloc(size ? size : 1), *message = NULL;
	int r;

	assert_non_null(copy);
	memcpy(copy, text, size);
	r = policy_parse(draft, file, copy, size, &message);
	free(copy);
	if (r == 0)
		r = policy_draft_check(draft, &message);

	if (r == 0)
		assert_null(message);
	else
		assert_non_null(message);
	assert_in_range(-r, 0, 4095);
	return message;
}

/* Expects message, or NULL for a valid text; names the text that did otherwise. */
static inline void test_policy_expect(struct policy_draft *draft, const char *text, size_t size,
				      const char *message)
{
	char *found = test_policy_parse(draft, TEST_FILE, text, size);

	if (!message != !found)
		print_message("%.*s\n", (int)size, text);
	if (message) {
		assert_non_null(found);
		assert_string_equal(found, message);
	} else if (found) {
		assert_string_equal(found, "no message");
	}
	free(found);
}
