/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The files in the run directory, which outlast the daemon but not the boot. Text:
 *
 *	wakegov NAME VERSION
 *	boot 6d6a5f0e-…		a file of an earlier boot is ignored
 *	KEY VALUE…		any number of lines; what they say is up to the file's owner
 *	end N			the number of these lines; a log has no such line
 *
 * A file is replaced as a whole: it is written beside the old one and renamed. Lines are also added
 * to a log, each by one write(2), before what they announce is done; a last line without its
 * newline announced nothing, and is left out. Text that somebody else chose is the last value of
 * its line, and is escaped.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct statefile {
	const char *name;
	unsigned int version; /* goes up when a line's meaning changes */
	bool is_log;
};

struct statefile_reader {
	char *text;
	char *next;
	size_t n;     /* lines taken */
	size_t n_max; /* no more lines follow than this */
	bool is_log;
};

/*
 * Reads the file of a directory and checks its head. Returns 1 when lines follow; 0 without a file
 * or a directory, or with a file of an earlier boot, which is removed; or a negative errno:
 * -EKEYREJECTED for a file that another user could have written, -EPROTONOSUPPORT for one of
 * another version, -EBADMSG for one that is not of the form above. The caller closes the reader in
 * any case.
 */
int statefile_open(const char *directory, const struct statefile *file,
		   struct statefile_reader *ret);
void statefile_close(struct statefile_reader *reader);

/*
 * The next line, without its newline; it lives as long as the reader. Returns 1, 0 after the last
 * one, or -EBADMSG when the file was cut or goes on after its end.
 */
int statefile_next(struct statefile_reader *reader, char **ret_line);

/* Why the file was refused; NULL for an error that is about something else. */
const char *statefile_refusal(int error);

/*
 * Replaces the file by one with the lines that print() writes. Returns 0 or a negative errno; then
 * the file is as it was.
 */
int statefile_write(const char *directory, const struct statefile *file,
		    void (*print)(FILE *out, const void *data), const void *data);

/* Opens a log to which lines are added. Returns a descriptor or a negative errno. */
int statefile_open_log(const char *directory, const struct statefile *file);

/*
 * Adds a line, which ends with a newline. Returns 0 or a negative errno, and then nothing was
 * added: -ENOSPC and the like.
 */
int statefile_append(int fd, const char *line);

/* Removes the file. Returns 0, also when there is none, or a negative errno. */
int statefile_remove(const char *directory, const struct statefile *file);

/* Writes text with a backslash and three octal digits for each byte that is not plain ASCII. */
void statefile_print_escaped(FILE *out, const char *text);

/* The text again. Returns false when it does not fit. */
bool statefile_unescape(const char *escaped, char *ret, size_t size);
