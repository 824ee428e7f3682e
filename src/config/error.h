/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Messages for the administrator: what to correct, and where; and the text that they quote. */

#include <stdbool.h>
#include <stddef.h>

/* A line of a policy file; line 0 stands for the file as a whole. */
struct policy_place {
	const char *file;
	unsigned int line;
};

/* The longest line, without its end, that every build of inih takes whole. */
#define POLICY_LINE_MAX	      197

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

/*
 * Sets *ret_message to "file:line: sentence", or to "file: sentence" for line 0, with control
 * characters made harmless; the caller frees it. It is NULL when memory is short. Returns error.
 */
int policy_error_set(char **ret_message, int error, struct policy_place place, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));

/*
 * A suggestion for a value that was refused, such as "; write it without a blank: 60%"; "" if there
 * is none. shown: the value, as policy_text_escape() returns it.
 */
#define POLICY_HINT_SIZE 256
void policy_error_hint(const char *shown, char ret[static POLICY_HINT_SIZE]);

/* Whether a word begins with '#', as for a comment, which is one at the start of a line only. */
bool policy_text_has_comment(const char *text);

/* Faults that are shown one by one. */
#define POLICY_FAULTS_SHOWN 20

/*
 * Adds a sentence, which it frees, to the lines of *list; NULL, without memory, adds none. After
 * POLICY_FAULTS_SHOWN lines one says that there are more.
 */
void policy_error_append(char **list, char *sentence);
