/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A recording on disk, opened to be read from its beginning. */

#include <stdio.h>

#include "record/reader.h"

struct recording_file {
	const char *path; /* borrowed */
	FILE *file;
	struct record_reader *reader; /* after record_reader_begin() */
};

/*
 * Returns 0, or a negative errno and a sentence in why: what is wrong with the file, and where. In
 * both cases recording_file_close() is right afterwards.
 */
int recording_file_open(struct recording_file *recording, const char *path, char why[static 256]);
void recording_file_close(struct recording_file *recording);

/* What a call that read from it failed with, as the same kind of sentence. */
void recording_file_explain(const struct recording_file *recording, int error,
			    char why[static 256]);
