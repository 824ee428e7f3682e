/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the tests of src/record share: recordings in memory. */

#include "test-core.h"

#include <errno.h>
#include <stdio.h>

#include "record/record.h"

#define TEST_RECORDING_MAX (1 << 20)

struct test_recording {
	size_t n;
	uint8_t data[TEST_RECORDING_MAX];
};

static inline int test_recording_write(void *userdata, const void *data, size_t size)
{
	struct test_recording *recording = userdata;

	assert_true(size <= sizeof(recording->data) - recording->n);
	memcpy(recording->data + recording->n, data, size);
	recording->n += size;
	return 0;
}

static inline struct recorder *test_recorder_new(struct test_recording *recording)
{
	struct recorder *recorder = recorder_new(test_recording_write, recording);

	assert_non_null(recorder);
	recording->n = 0;
	return recorder;
}

static inline struct record_reader *test_reader_new(struct test_recording *recording)
{
	FILE *file = fmemopen(recording->data, recording->n, "r");
	struct record_reader *reader = record_reader_new(file);

	assert_non_null(file);
	assert_non_null(reader);
	return reader;
}

static inline void test_reader_free(struct record_reader *reader)
{
	fclose(reader->file);
	record_reader_free(reader);
}

/* Begins and replays. Returns as the first of them that failed, and its reason. */
static inline int test_replay(struct test_recording *recording, struct recorder *again,
			      struct replay *ret, char why[static 160])
{
	struct record_reader *reader = test_reader_new(recording);
	int r = record_reader_begin(reader);

	*ret = (struct replay){ 0 };
	if (r == 0)
		r = replay_run(reader, again, ret);
	strcpy(why, reader->why);
	test_reader_free(reader);
	return r;
}
