// SPDX-License-Identifier: GPL-2.0-only
#include "sim/recording.h"

#include <errno.h>
#include <string.h>

#include "shared/cleanup.h"

static int write_file(void *userdata, const void *data, size_t size)
{
	errno = 0;
	if (fwrite(data, 1, size, userdata) == size && fflush(userdata) == 0)
		return 0;
	return errno ? -errno : -EIO;
}

int recording_open(struct recording *recording, const char *path)
{
	_cleanup_fclose_ FILE *file = fopen(path, "we");
	int r = -errno;

	if (!file) {
		fprintf(stderr, "wakegov-sim: --record: cannot write %s: %s\n", path, strerror(-r));
		return r;
	}
	*recording = (struct recording){ .path = path, .recorder = recorder_new(write_file, file) };
	if (!recording->recorder) {
		fprintf(stderr, "wakegov-sim: --record: %s\n", strerror(ENOMEM));
		return -ENOMEM;
	}
	recording->file = take_ptr(file);
	return 0;
}

int recording_close(struct recording *recording)
{
	int r = recorder_end(recording->recorder, 0);

	if (fclose(recording->file) != 0 && r == 0)
		r = -errno;
	recording->recorder = recorder_free(recording->recorder);
	if (r < 0)
		fprintf(stderr, "wakegov-sim: --record: %s is not whole: %s\n", recording->path,
			strerror(-r));
	return r;
}
