// SPDX-License-Identifier: GPL-2.0-only
/* Numbers and texts come back as they were; bytes that are none are refused within their bounds. */
#include "test-core.h"

#include "record/codec.h"

static const uint64_t numbers[] = {
	0,	    1,		127,	   128,	       16383,	   16384,
	UINT32_MAX, 1ULL << 32, INT64_MAX, 1ULL << 63, UINT64_MAX, UINT64_MAX - 1,
};

#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static void test_numbers(void **state)
{
	uint8_t bytes[512];
	struct record_out out = { .data = bytes, .size = sizeof(bytes) };
	struct record_in in = { .at = bytes };

	for (size_t i = 0; i < N_NUMBERS; i++) {
		record_put_varint(&out, numbers[i]);
		record_put_difference(&out, numbers[i]);
		record_put_u32(&out, numbers[i]);
	}
	assert_false(out.full);
	in.end = bytes + out.n;
	for (size_t i = 0; i < N_NUMBERS; i++) {
		assert_int_equal(record_get_varint(&in), numbers[i]);
		assert_int_equal(record_get_difference(&in), numbers[i]);
		assert_int_equal(record_get_u32(&in), (uint32_t)numbers[i]);
	}
	assert_false(in.bad);
	assert_ptr_equal(in.at, in.end);
	assert_int_equal(record_get_varint(&in), 0);
	assert_true(in.bad);
}

static void test_short(void **state)
{
	uint8_t bytes[16];
	struct record_out out = { .data = bytes, .size = sizeof(bytes) };

	for (int i = -64; i < 64; i++) {
		out.n = 0;
		record_put_difference(&out, i);
		assert_int_equal(out.n, 1);
	}
	out.n = 0;
	record_put_u32(&out, 0x04030201);
	assert_memory_equal(bytes, "\1\2\3\4", 4);
}

static void test_bounds(void **state)
{
	uint8_t bytes[10];
	struct record_out out = { .data = bytes, .size = 9 };
	struct record_in in = { bytes, bytes + 9, false };

	record_put_varint(&out, UINT64_MAX);
	assert_true(out.full);
	assert_int_equal(out.n, 0);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(record_get_varint(&in), 0);
	assert_true(in.bad);
	/* More than 64 bits. */
	bytes[9] = 2;
	in = (struct record_in){ bytes, bytes + 10, false };
	assert_int_equal(record_get_varint(&in), 0);
	assert_true(in.bad);
	bytes[0] = 7;
	in = (struct record_in){ bytes, bytes + 1, false };
	assert_int_equal(record_get_number(&in, 6), 0);
	assert_true(in.bad);
}

static void test_text(void **state)
{
	uint8_t bytes[32];
	struct record_out out = { .data = bytes, .size = sizeof(bytes) };
	struct record_in in = { .at = bytes };
	char text[8];

	record_put_text(&out, "1234567");
	record_put_text(&out, "");
	record_put_text(&out, "12345678");
	in.end = bytes + out.n;
	record_get_text(&in, text, sizeof(text));
	assert_string_equal(text, "1234567");
	record_get_text(&in, text, sizeof(text));
	assert_string_equal(text, "");
	assert_false(in.bad);
	record_get_text(&in, text, sizeof(text));
	assert_true(in.bad);
	assert_string_equal(text, "");

	in = (struct record_in){ bytes, bytes + 7, false };
	record_get_text(&in, text, sizeof(text));
	assert_true(in.bad);
	bytes[3] = 0;
	in = (struct record_in){ bytes, bytes + 8, false };
	record_get_text(&in, text, sizeof(text));
	assert_true(in.bad);
}

/* The check value of CRC-32/ISO-HDLC. */
static void test_crc(void **state)
{
	assert_int_equal(record_crc("123456789", 9), 0xcbf43926);
	assert_int_equal(record_crc("", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_short),
		cmocka_unit_test(test_bounds),	cmocka_unit_test(test_text),
		cmocka_unit_test(test_crc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
