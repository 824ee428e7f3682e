// SPDX-License-Identifier: GPL-2.0-only
/* tests/varlink/test_hostile.py sends messages of every length, in pieces and one behind the other.
 */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "varlink/buffer.h"

#define MAX 100

static int set_up(void **state)
{
	static struct frame_reader reader;

	frame_reader_set_max(&reader, MAX);
	*state = &reader;
	return 0;
}

static int tear_down(void **state)
{
	frame_reader_deinit(*state);
	return 0;
}

#define FRAME_TEST(name) TEST_WITH(name, set_up, tear_down)

static void feed(struct frame_reader *reader, const char *bytes, size_t n)
{
	assert_int_equal(buffer_append(&reader->input, bytes, n), 0);
}

static void assert_next(struct frame_reader *reader, const char *expected)
{
	const char *message;
	size_t length;

	assert_int_equal(frame_reader_peek(reader, &message, &length), 1);
	assert_string_equal(message, expected);
	assert_int_equal(length, strlen(expected));
	frame_reader_pop(reader, length);
}

static void assert_peek(struct frame_reader *reader, int expected)
{
	const char *message;
	size_t length;

	assert_int_equal(frame_reader_peek(reader, &message, &length), expected);
}

FRAME_TEST(test_limit_that_shrinks)
{
	feed(*state, "0123456789", 11);
	frame_reader_set_max(*state, 5);
	assert_peek(*state, -EMSGSIZE);
}

FRAME_TEST(test_empty_buffer_holds_no_memory)
{
	struct frame_reader *reader = *state;

	feed(reader, "one", 4);
	assert_non_null(reader->input.data);
	assert_next(reader, "one");
	assert_null(reader->input.data);
}

FRAME_TEST(test_receive)
{
	struct frame_reader *reader = *state;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(buffer_receive(&reader->input, pair[0]), -EAGAIN);
	assert_null(reader->input.data);
	assert_int_equal(write(pair[1], "one\0two", 8), 8);
	assert_int_equal(buffer_receive(&reader->input, pair[0]), 8);
	assert_next(reader, "one");
	assert_next(reader, "two");
	close(pair[1]);
	assert_int_equal(buffer_receive(&reader->input, pair[0]), 0);
	close(pair[0]);
}

TEST(test_send_until_full)
{
	struct buffer buffer = { .max = 4 << 20 };
	char *data = test_calloc(1, buffer.max);
	size_t before;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(buffer_append(&buffer, data, buffer.max), 0);
	assert_int_equal(buffer_append(&buffer, data, 1), -EMSGSIZE);
	assert_int_equal(buffer_send(&buffer, pair[0]), -EAGAIN);
	before = buffer.length;
	assert_true(before > 0 && before < buffer.max);
	/* What went out makes room again, at the end. */
	assert_int_equal(buffer_append(&buffer, data, buffer.max - before), 0);
	assert_int_equal(buffer_append(&buffer, data, 1), -EMSGSIZE);
	close(pair[1]);
	assert_int_equal(buffer_send(&buffer, pair[0]), -EPIPE);
	close(pair[0]);
	buffer_deinit(&buffer);
	test_free(data);
}
