/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Messages for the administrator: what to correct, and where. */

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

/* Sets the message about a key that the section does not have, with a list of its keys. */
int policy_error_set_unknown_key(char **ret_message, struct policy_place place, const char *section,
				 const char *name, const char *list, const char *closest);

/* Checks the name of a rule, class or profile. Returns 0, or -EINVAL and *ret_message. */
int policy_error_check_name(struct policy_place place, const char *section, const char *name,
			    char **ret_message);

/* Faults that are shown one by one. */
#define POLICY_FAULTS_SHOWN 20

/*
 * Adds a sentence, which it frees, to the lines of *list; NULL, without memory, adds none. Those
 * after POLICY_FAULTS_SHOWN lines are counted in one line.
 */
void policy_error_append(char **list, char *sentence);
