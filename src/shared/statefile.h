/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The files in the run directory, which outlast the daemon but not the boot. Text:
 *
 *	wakegov NAME VERSION
 *	boot 6d6a5f0e-…		a file of an earlier boot is ignored
 *	KEY VALUE…		any number of lines, whose meaning is the file's
 *	end N			the number of these lines; a log has no such line
 *
 * Only the daemon's user may read them. A file is replaced as a whole: it is written beside the old
 * one, as NAME.new, and renamed. A log is also appended to, each line by one write(2) before the
 * action that it announces. A last line without a newline announced nothing, and is dropped.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct statefile {
	const char *name;
	unsigned int version; /* raised when the meaning of a line changes */
	bool is_log;
};

struct statefile_reader {
	char *text;
	char *next;
	size_t n;     /* lines read so far */
	size_t n_max; /* upper bound on the number of lines */
	bool is_log;
};

/*
 * Reads the file of a directory and checks its head. Returns 1 if lines follow; 0 without a file or
 * a directory, or with a file of an earlier boot, which this removes with any NAME.new; or a
 * negative errno: -EKEYREJECTED if another user could have written it, -EPROTONOSUPPORT for another
 * version, -EBADMSG for another form. The caller closes the reader in any case.
 */
int statefile_open(const char *directory, const struct statefile *file,
		   struct statefile_reader *ret);
void statefile_close(struct statefile_reader *reader);

/*
 * The next line, without its newline; it lives as long as the reader. Returns 1, 0 after the last
 * one, or -EBADMSG if the file was cut or continues after its end.
 */
int statefile_next(struct statefile_reader *reader, char **ret_line);

/* Why the file was refused; NULL for errors of another kind. */
const char *statefile_refusal(int error);

/*
 * Replaces the file by the lines that print() writes. Returns 0, or a negative errno with the old
 * file unchanged.
 */
int statefile_write(const char *directory, const struct statefile *file,
		    void (*print)(FILE *out, const void *data), const void *data);

/* Opens a log to which lines are added. Returns a descriptor or a negative errno. */
int statefile_open_log(const char *directory, const struct statefile *file);

/*
 * Appends a line, which ends with a newline. Returns 0, or a negative errno such as -ENOSPC with
 * nothing added.
 */
int statefile_append(int fd, const char *line);

/* Removes the file, and what a crash left beside it. Returns 0, also when there is none, or a
 * negative errno. */
int statefile_remove(const char *directory, const struct statefile *file);
