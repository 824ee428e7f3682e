/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the tests of src/record share: recordings in memory. */

#include "test-core.h"

#include <errno.h>
#include <stdio.h>

#include "record/replay.h"

#define TEST_RECORDING_MAX (1 << 20)

struct test_recording {
	size_t n;
	size_t at; /* of the reader */
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

/* A few bytes at a time, as a pipe may give them. */
static inline ssize_t test_recording_read(void *userdata, void *data, size_t size)
{
	struct test_recording *recording = userdata;
	size_t left = recording->n - recording->at;

	size = size < left ? size : left;
	size = size < 1000 ? size : 1000;
	memcpy(data, recording->data + recording->at, size);
	recording->at += size;
	return size;
}

static inline struct recorder *test_recorder_new(struct test_recording *recording)
{
	struct record_sink sink = { test_recording_write, recording };
	struct recorder *recorder = recorder_new(&sink);

	assert_non_null(recorder);
	recording->n = recording->at = 0;
	return recorder;
}

static inline struct record_reader *test_reader_new(struct test_recording *recording)
{
	struct record_source source = { test_recording_read, recording };
	struct record_reader *reader = record_reader_new(&source);

	assert_non_null(reader);
	recording->at = 0;
	return reader;
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
	strcpy(why, record_reader_why(reader));
	record_reader_free(reader);
	return r;
}
