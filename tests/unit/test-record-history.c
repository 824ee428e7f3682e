// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/format.h"
#include "record/history.h"

#define FILE_BYTES 262144
#define ENTRIES	   3000

static struct {
	uint8_t data[FILE_BYTES];
	size_t n;
	struct history_entry entries[ENTRIES];
	size_t ends[ENTRIES]; /* of the block that holds it; only that of a block's last is right */
} file;

static struct history_entry make_entry(uint32_t i)
{
	struct history_entry entry = {
		.realtime_us = 1700000000000000ULL + i * 1000ULL,
		.left_out = i % 7 == 0 ? i : 0,
		.entry = {
			.decision = {
				.now_ns = 5000000000ULL + i * 1000000ULL,
				.target_khz = i % 3 ? 400000 : 1800000,
				.previous_khz = i % 2 ? 400000 : UINT32_MAX,
				.reason = i % (REASON_LAST + 1),
				.limiter = i % (LIMITER_LAST + 1),
				.timing = i % (TIMING_RATE_LIMITED + 1),
				.pid = i / 5,
			},
			.read_back_khz = i % 4,
			.explanation = { .n_contenders = 2, .has_io = i % 2, .scaling_max_khz = i },
		},
	};

	snprintf(entry.domain, sizeof(entry.domain), "policy%u", i % 2 * 1023);
	snprintf(entry.device, sizeof(entry.device), "%s", i % 5 ? "nvme0n1" : "");
	snprintf(entry.entry.decision.comm, TASK_COMM_SIZE, "task%u", i % 11);
	entry.entry.explanation.contenders[1].reason = REASON_FLOOR;
	entry.entry.explanation.io.found.gain_ppm = -(int32_t)i;
	snprintf(entry.entry.explanation.rule.name, POLICY_NAME_SIZE, "%s", i % 50 ? "" : "rule");
	return entry;
}

static void append(struct history_writer *writer)
{
	size_t n = history_close(writer);

	assert_true(file.n + n <= FILE_BYTES);
	memcpy(file.data + file.n, writer->block, n);
	file.n += n;
}

static int make_file(void **state)
{
	static struct history_writer writer;

	memset(&file, 0, sizeof(file));
	history_put_header(file.data);
	file.n = HISTORY_FILE_HEADER;
	history_begin(&writer);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		file.entries[i] = make_entry(i);
		assert_int_not_equal(history_put(&writer, &file.entries[i]), 0);
		/* Blocks of all lengths, as they are when the daemon falls asleep. */
		if (history_is_full(&writer) || i % 97 == 0)
			append(&writer);
		file.ends[i] = file.n;
	}
	append(&writer);
	return 0;
}

static void assert_same(const struct history_entry *a, const struct history_entry *b)
{
	assert_int_equal(a->realtime_us, b->realtime_us);
	assert_string_equal(a->domain, b->domain);
	assert_string_equal(a->device, b->device);
	assert_int_equal(a->left_out, b->left_out);
	assert_memory_equal(&a->entry.decision.now_ns, &b->entry.decision.now_ns, 8);
	assert_int_equal(a->entry.decision.target_khz, b->entry.decision.target_khz);
	assert_int_equal(a->entry.decision.previous_khz, b->entry.decision.previous_khz);
	assert_int_equal(a->entry.decision.reason, b->entry.decision.reason);
	assert_int_equal(a->entry.decision.limiter, b->entry.decision.limiter);
	assert_int_equal(a->entry.decision.timing, b->entry.decision.timing);
	assert_string_equal(a->entry.decision.comm, b->entry.decision.comm);
	assert_int_equal(a->entry.read_back_khz, b->entry.read_back_khz);
	/* No field of the explanation is forgotten. */
	assert_memory_equal(&a->entry.explanation, &b->entry.explanation,
			    sizeof(a->entry.explanation));
}

static uint32_t count(const void *data, size_t n)
{
	struct history_reader reader;
	uint32_t i = 0;
	int r = history_read(&reader, data, n);

	if (r < 0)
		return 0;
	while ((r = history_next(&reader)) == 1)
		assert_int_equal(reader.last.realtime_us, file.entries[i++].realtime_us);
	assert_int_equal(r, 0);
	return i;
}

static void test_what_is_put_comes_out(void **state)
{
	struct history_reader reader;

	assert_int_equal(history_read(&reader, file.data, file.n), 0);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		assert_int_equal(history_next(&reader), 1);
		assert_same(&reader.last, &file.entries[i]);
	}
	assert_int_equal(history_next(&reader), 0);
	assert_int_equal(history_good_bytes(file.data, file.n), file.n);
	print_message("%zu bytes for each of %d entries\n", file.n / ENTRIES, ENTRIES);
}

/* Whole blocks are read, and nothing else. */
static void test_cut_anywhere(void **state)
{
	uint32_t before = 0;

	for (size_t n = 0; n < file.n; n += n < 1024 ? 1 : 211) {
		uint32_t now = count(file.data, n);

		assert_true(now >= before);
		assert_true(now == 0 || file.ends[now - 1] <= n);
		assert_true(history_good_bytes(file.data, n) <= n);
		before = now;
	}
}

static void test_a_changed_byte_is_found(void **state)
{
	uint8_t *copy = malloc(file.n);

	for (size_t at = 0; at < file.n; at += at < 1024 ? 1 : 211) {
		memcpy(copy, file.data, file.n);
		copy[at] ^= 0x10;
		assert_true(count(copy, file.n) < ENTRIES);
		assert_true(history_good_bytes(copy, file.n) <= at || at < HISTORY_FILE_HEADER);
	}
	free(copy);
}

static void test_begins_where_it_may(void **state)
{
	struct history_reader reader;
	uint32_t n = 0;

	assert_int_equal(history_read(&reader, file.data, file.n), 0);
	history_seek_time(&reader, file.entries[2000].realtime_us);
	assert_int_equal(history_next(&reader), 1);
	assert_true(reader.is_first);
	/* Not after it, and not as far before as a chain is long. */
	assert_true(reader.last.realtime_us <= file.entries[2000].realtime_us);
	for (; reader.last.realtime_us < file.entries[2000].realtime_us; n++)
		assert_int_equal(history_next(&reader), 1);
	assert_true(n < 1200);
	assert_same(&reader.last, &file.entries[2000]);
	history_seek_time(&reader, 0);
	assert_int_equal(history_seek(&reader, reader.began + 1), -EBADMSG);
	assert_int_equal(history_seek(&reader, file.n), -EBADMSG);
}

static void test_refuses(void **state)
{
	struct history_reader reader;
	struct history_writer writer;
	uint8_t other[HISTORY_FILE_HEADER];
	struct history_entry entry = make_entry(1);

	assert_int_equal(history_read(&reader, "", 0), -ENODATA);
	assert_int_equal(history_read(&reader, "something else", 14), -EBADMSG);
	history_put_header(other);
	other[HISTORY_MAGIC_SIZE]++;
	assert_int_equal(history_read(&reader, other, sizeof(other)), -EPROTONOSUPPORT);
	history_begin(&writer);
	entry.entry.decision.reason = REASON_LAST + 1;
	assert_int_equal(history_put(&writer, &entry), 0);
	assert_int_equal(history_close(&writer), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_put_comes_out),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_a_changed_byte_is_found),
		cmocka_unit_test(test_begins_where_it_may),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests(tests, make_file, NULL);
}
