// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever a file holds, read and replayed: as it is, and with checksums made right, without which
 * nearly everything ends there. What is refused has a reason, with the byte.
 */
#include <stdlib.h>

#include "test-record-drive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct test_recording recording;

static void replay(void)
{
	struct replay result;
	char why[160];
	int r = test_replay(&recording, NULL, &result, why);

	if (r < 0 && r != -EBADMSG && r != -EPROTONOSUPPORT && r != -ENODATA)
		abort();
	if (r < 0 && r != -ENODATA && strncmp(why, "byte ", 5) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A block's length may point beyond what there is. */
	if (size > sizeof(recording.data) / 2)
		return 0;
	memcpy(recording.data, data, size);
	recording.n = size;
	replay();
	test_recording_seal(&recording);
	replay();
	return 0;
}
