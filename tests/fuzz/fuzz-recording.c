// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever a recording holds, read and replayed. By its first byte an input is a whole file; or the
 * calls behind a beginning that is right; or places of a whole recording that get other bytes. The
 * two latter get this build's id and right checksums, without which nearly everything ends there.
 * What is refused has a reason, with the byte.
 */
#include <stdlib.h>

#include "test-record-drive.h"

#define RAW_MAX	    (4 << 20)
#define PATCH_BYTES 4 /* the place in three, and what it becomes */
#define KINDS	    3

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct test_recording recording;
static uint8_t whole[RAW_MAX], forged[RAW_MAX];
static size_t n_whole, n_beginning;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	test_drive_late(&recording, 1, 400, 0);
	/* Without its end. */
	n_beginning = test_recording_unpack(&recording, whole, RAW_MAX) - sizeof(struct record_tag);
	test_drive_late(&recording, 1, 400, 40);
	n_whole = test_recording_unpack(&recording, whole, RAW_MAX);
	return 0;
}

static void replay(void)
{
	struct replay result;
	char why[160];
	int r = test_replay(&recording, NULL, &result, why);

	if (r < 0 && r != -EBADMSG && r != -EPROTONOSUPPORT && r != -ENODATA)
		abort();
	if (r < 0 && strncmp(why, "byte ", 5) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || size > sizeof(recording.data))
		return 0;
	memcpy(forged, whole, n_whole);
	switch (data++[0] % KINDS) {
	case 0:
		memcpy(recording.data + sizeof(struct record_head), data, size - 1);
		recording.n = sizeof(struct record_head) + size - 1;
		break;
	case 1:
		memcpy(forged + n_beginning, data, size - 1);
		test_recording_pack(&recording, forged, n_beginning + size - 1);
		break;
	default:
		for (; size > PATCH_BYTES; size -= PATCH_BYTES, data += PATCH_BYTES)
			forged[(data[0] | data[1] << 8 | data[2] << 16) % n_whole] = data[3];
		test_recording_pack(&recording, forged, n_whole);
	}
	replay();
	return 0;
}
