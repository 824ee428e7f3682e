// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "varlink/channel.h"

enum kind { APPLE, PEAR };

#define ALL UINT32_MAX

static const struct channel_filter everything = { .kinds = ALL };

static void publish(struct channel *channel, enum kind kind, const char *domain, uint32_t pid,
		    const char *text)
{
	struct channel_tag tag = { .kind = kind, .pid = pid };

	strncpy(tag.domain, domain, sizeof(tag.domain) - 1);
	assert_int_equal(channel_publish(channel, &tag, text, strlen(text)), 0);
}

static void assert_pulled(struct subscription *subscription, size_t max, int expected_r,
			  const char *expected)
{
	struct buffer output = { .max = 1 << 20 };

	assert_int_equal(channel_pull(subscription, &output, max), expected_r);
	assert_int_equal(output.length, strlen(expected));
	if (output.length)
		assert_memory_equal(buffer_bytes(&output), expected, output.length);
	buffer_deinit(&output);
}

TEST(test_everyone_gets_what_comes_after)
{
	struct subscription early, late;
	struct channel channel = { 0 };

	assert_false(channel_has_subscriber(&channel));
	channel_subscribe(&channel, &everything, &early);
	assert_true(channel_has_subscriber(&channel));
	assert_pulled(&early, 100, 0, "");
	publish(&channel, APPLE, "", 0, "one");
	channel_subscribe(&channel, &everything, &late);
	publish(&channel, PEAR, "", 0, "two");
	assert_int_equal(channel_lag(&early), 2);
	assert_pulled(&early, 100, 0, "onetwo");
	assert_pulled(&late, 100, 0, "two");
	assert_pulled(&early, 100, 0, "");
	assert_int_equal(channel_lag(&early), 0);

	channel_unsubscribe(&early);
	assert_true(channel_has_subscriber(&channel));
	channel_unsubscribe(&late);
	channel_unsubscribe(&late);
	assert_false(channel_has_subscriber(&channel));
	assert_null(channel.bytes);
}

TEST(test_filters)
{
	static const struct {
		struct channel_filter filter;
		const char *expected;
	} cases[] = {
		{ { .kinds = ALL }, "abcd" },
		{ { .kinds = 1 << PEAR }, "bd" },
		{ { .kinds = ALL, .pid = 7 }, "cd" },
		{ { .kinds = ALL, .domain = "policy4" }, "bc" },
		{ { .kinds = 1 << APPLE, .pid = 7, .domain = "policy4" }, "c" },
		{ { .kinds = 1 << PEAR, .pid = 8 }, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct channel channel = { 0 };
		struct subscription subscription;

		channel_subscribe(&channel, &cases[i].filter, &subscription);
		publish(&channel, APPLE, "policy0", 0, "a");
		publish(&channel, PEAR, "policy4", 0, "b");
		publish(&channel, APPLE, "policy4", 7, "c");
		publish(&channel, PEAR, "", 7, "d");
		assert_int_equal(channel_has_news(&subscription), cases[i].expected[0] != '\0');
		assert_pulled(&subscription, 100, 0, cases[i].expected);
		assert_false(channel_has_news(&subscription));
		channel_unsubscribe(&subscription);
	}
}

TEST(test_so_much_at_a_time)
{
	struct channel channel = { 0 };
	struct subscription subscription;

	channel_subscribe(&channel, &everything, &subscription);
	for (int i = 0; i < 4; i++)
		publish(&channel, APPLE, "", 0, "abcd");
	assert_pulled(&subscription, 8, 1, "abcdabcd");
	/* One goes out, however large. */
	assert_pulled(&subscription, 2, 1, "abcd");
	assert_pulled(&subscription, 8, 0, "abcd");
	channel_unsubscribe(&subscription);
}

/* A buffer that is full keeps the place. */
TEST(test_no_room)
{
	struct buffer output = { .max = 6 };
	struct channel channel = { 0 };
	struct subscription subscription;

	channel_subscribe(&channel, &everything, &subscription);
	publish(&channel, APPLE, "", 0, "abcd");
	publish(&channel, APPLE, "", 0, "efgh");
	assert_int_equal(channel_pull(&subscription, &output, 100), -EMSGSIZE);
	assert_int_equal(output.length, 4);
	assert_pulled(&subscription, 100, 0, "efgh");
	buffer_deinit(&output);
	channel_unsubscribe(&subscription);
}

/* Rounds over rounds of messages of all sizes: who reads has each of them, who does not is told. */
static void fill(struct channel *channel, struct subscription *reader, size_t least, size_t most)
{
	static char text[100000];
	struct buffer output = { .max = sizeof(text) };
	size_t length = least;

	for (int i = 0; i < 50000; i++) {
		memset(text, 'a' + i % 26, length);
		text[length] = '\0';
		publish(channel, APPLE, "", 0, text);
		assert_int_equal(channel_pull(reader, &output, 1), 0);
		assert_int_equal(output.length, length);
		assert_memory_equal(buffer_bytes(&output), text, length);
		buffer_consume(&output, length);
		length = least + (length * 7 + 13) % (most - least);
	}
}

static void assert_overtaken(size_t least, size_t most, uint64_t most_kept)
{
	struct subscription reader, sleeper, other;
	struct channel channel = { 0 };
	struct buffer output = { .max = 1 << 20 };

	channel_subscribe(&channel, &everything, &reader);
	channel_subscribe(&channel, &everything, &sleeper);
	channel_subscribe(&channel, &(struct channel_filter){ .kinds = 1 << PEAR }, &other);
	assert_false(channel_has_news(&other));
	fill(&channel, &reader, least, most);
	assert_true(channel.next - channel.first <= most_kept);
	assert_true(channel.next - channel.first >= most_kept / 2);
	assert_int_equal(channel_pull(&sleeper, &output, 100), -ESTALE);
	assert_int_equal(channel_lag(&sleeper), 50000);
	channel_unsubscribe(&reader);
	channel_unsubscribe(&sleeper);
	channel_unsubscribe(&other);
}

TEST(test_who_sleeps_is_overtaken)
{
	assert_overtaken(1, 40, CHANNEL_MESSAGES);
	assert_overtaken(2000, 3000, CHANNEL_BYTES / 2000);
}

TEST(test_larger_than_all)
{
	struct channel channel = { 0 };
	struct subscription subscription;
	const struct channel_tag tag = { 0 };
	char *text = calloc(1, CHANNEL_BYTES + 1);

	channel_subscribe(&channel, &everything, &subscription);
	assert_int_equal(channel_publish(&channel, &tag, text, CHANNEL_BYTES + 1), -EMSGSIZE);
	assert_false(channel_has_news(&subscription));
	assert_int_equal(channel_publish(&channel, &tag, text, CHANNEL_BYTES), 0);
	assert_true(channel_has_news(&subscription));
	channel_unsubscribe(&subscription);
	free(text);
}
