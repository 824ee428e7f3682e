/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Messages that tell the administrator what to correct, and where. */

/* A line of a policy file; line 0 stands for the file as a whole. */
struct policy_place {
	const char *file;
	unsigned int line;
};

/*
 * Sets *ret_message to "file:line: sentence", or to "file: sentence" for line 0, with control
 * characters made harmless; the caller frees it. It is NULL when memory is short. Returns error.
 */
int policy_error_set(char **ret_message, int error, struct policy_place place, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));

/* The sentence about a key that the section has not, with the list of those that it has. */
int policy_error_set_unknown_key(char **ret_message, struct policy_place place, const char *section,
				 const char *name, const char *list, const char *closest);

/*
 * Checks the name of a rule, class or profile, for the header of the section that has it. Returns
 * 0, or -EINVAL and *ret_message.
 */
int policy_error_check_name(struct policy_place place, const char *section, const char *name,
			    char **ret_message);

/* Of so many faults each is shown. */
#define POLICY_FAULTS_SHOWN 20

/*
 * Adds a sentence, which it frees, to the lines of *list; NULL, for want of memory, adds none. What
 * comes after POLICY_FAULTS_SHOWN lines is one line together.
 */
void policy_error_append(char **list, char *sentence);
