// SPDX-License-Identifier: GPL-2.0-only
#include "record/recording_file.h"

#include <errno.h>
#include <string.h>

#define WHY_SIZE 256

void recording_file_explain(const struct recording_file *recording, int error,
			    char why[static WHY_SIZE])
{
	const char *reason = recording->reader ? record_reader_why(recording->reader) : "";

	snprintf(why, WHY_SIZE, "%s: %s", recording->path,
		 error == -ENOMEM || !reason[0] ? strerror(-error) : reason);
}

int recording_file_open(struct recording_file *recording, const char *path,
			char why[static WHY_SIZE])
{
	struct record_source source = { .read = record_read_file };
	int r = 0;

	*recording = (struct recording_file){ .path = path, .file = fopen(path, "re") };
	source.userdata = recording->file;
	if (!recording->file)
		r = -errno;
	else if (!(recording->reader = record_reader_new(&source)))
		r = -ENOMEM;
	else
		r = record_reader_begin(recording->reader);
	if (r < 0)
		recording_file_explain(recording, r, why);
	return r;
}

void recording_file_close(struct recording_file *recording)
{
	record_reader_free(recording->reader);
	if (recording->file)
		fclose(recording->file);
	*recording = (struct recording_file){ 0 };
}
