// SPDX-License-Identifier: GPL-2.0-only
/* Files as they should not be: cut, damaged, of another build, something else. Never a crash, never
 * silence.
 */
#include "test-record-drive.h"

#include <zstd.h>

#include "config/keys.h"

#define RAW_MAX (4 << 20)

static struct test_recording whole, spoilt;
static uint8_t raw[RAW_MAX];

static int replay(struct replay *ret, char why[static 160])
{
	return test_replay(&spoilt, NULL, ret, why);
}

/* Where the last whole frame ends that lies before n. */
static size_t last_frame_end(const struct test_recording *recording, size_t n)
{
	size_t end = sizeof(struct record_head), next = end;

	while (next <= n) {
		end = next;
		if (end == recording->n)
			break;
		next += ZSTD_findFrameCompressedSize(recording->data + end, recording->n - end);
	}
	return end;
}

TEST(test_cut)
{
	struct replay all, some, before = { 0 };
	char why[160], expected[160];
	int r;

	test_drive(&whole, 1, 200, 10);
	spoilt = whole;
	assert_int_equal(replay(&all, why), REPLAY_SAME);
	for (size_t n = 0; n < whole.n; n++) {
		spoilt.n = n;
		r = replay(&some, why);
		if (r == -ENODATA) {
			assert_int_equal(before.n_inputs, 0);
			continue;
		}
		assert_int_equal(r, REPLAY_CUT);
		/* Never less than from a shorter file, and no more than a frame is lost. */
		assert_true(some.n_inputs >= before.n_inputs);
		assert_true(some.n_decisions >= before.n_decisions);
		snprintf(expected, sizeof(expected), "byte %zu: the file is cut here",
			 last_frame_end(&whole, n));
		assert_string_equal(why, expected);
		before = some;
	}
	assert_true(before.n_inputs > all.n_inputs / 2);
}

/* A bit of each byte: a flip is found, and where is said. */
TEST(test_flip)
{
	struct replay replayed;
	size_t n_refused = 0;
	int r;
	char why[160];

	test_drive(&whole, 2, 150, 20);
	spoilt = whole;
	for (size_t i = 0; i < whole.n; i++) {
		spoilt.data[i] ^= 1 << i % 8;
		r = replay(&replayed, why);
		/* A bit of a frame's head means nothing, and a length may point behind the end. */
		assert_true(r < 0 || r == REPLAY_SAME || r == REPLAY_CUT);
		n_refused += r == -EBADMSG || r == -EPROTONOSUPPORT;
		assert_int_equal(strncmp(why, "byte ", 5), 0);
		spoilt.data[i] = whole.data[i];
	}
	assert_true(n_refused > whole.n * 98 / 100);
}

/* The same in frames that are right: what is read may be anything, and must be safe. */
static void check_forged(void)
{
	struct test_random random = { 3 };
	int outcomes[3] = { 0 }, refused = 0, r;
	size_t n = test_recording_unpack(&whole, raw, sizeof(raw));
	struct replay replayed;
	char why[160];

	spoilt = whole;
	for (size_t i = 0; i < 600; i++) {
		/* Most of the bytes are the unused room of the policy and the state. */
		size_t range = i % 2 ? n - 3 : 20000;
		size_t at = n - 3 - test_random_below(&random, range);
		uint8_t kept[3];

		memcpy(kept, raw + at, sizeof(kept));
		for (int j = 0; j < 3; j++)
			raw[at + j] = test_random_next(&random);
		test_recording_pack(&spoilt, raw, n);
		memcpy(raw + at, kept, sizeof(kept));
		r = replay(&replayed, why);
		if (r < 0)
			assert_true(r == -EBADMSG || r == -ENODATA);
		if (r < 0)
			refused++;
		else
			outcomes[r]++;
	}
	print_message("%zu bytes: %d refused, %d the same, %d cut, %d differ\n", n, refused,
		      outcomes[0], outcomes[1], outcomes[2]);
	assert_true(refused && outcomes[REPLAY_DIFFERS]);
}

TEST(test_forged)
{
	test_drive(&whole, 3, 150, 0);
	check_forged();
	test_drive_late(&whole, 4, 1000, 20);
	check_forged();
}

static void refuse(const void *data, size_t n, int expected, const char *word)
{
	struct replay replayed;
	char why[160];

	memcpy(spoilt.data, data, n);
	spoilt.n = n;
	assert_int_equal(replay(&replayed, why), expected);
	if (!strstr(why, word))
		print_message("%s\n", why);
	assert_non_null(strstr(why, word));
}

TEST(test_others)
{
	struct test_random random = { 4 };
	uint8_t garbage[5000];

	refuse("", 0, -ENODATA, "empty");
	refuse("wake", 4, -ENODATA, "cut");
	refuse("[domain]\nheadroom = 125%\n", 25, -EBADMSG, "not a recording");
	for (int i = 0; i < 300; i++) {
		for (size_t j = 0; j < sizeof(garbage); j++)
			garbage[j] = test_random_next(&random);
		refuse(garbage, sizeof(garbage), -EBADMSG, "not a recording");
		/* With the right beginning it is found a little later. */
		memcpy(garbage, whole.data, sizeof(struct record_head));
		refuse(garbage, sizeof(garbage), -EBADMSG, "damaged");
	}
}

TEST(test_other_build)
{
	struct replay replayed;
	char why[160];

	test_drive(&spoilt, 5, 10, 0);
	spoilt.data[RECORD_MAGIC_SIZE] ^= 1;
	assert_int_equal(replay(&replayed, why), -EPROTONOSUPPORT);
	assert_string_equal(why, "byte 0: made by another build of wakegov; replay it with the "
				 "wakegovctl of that one, or record anew");
}

/* A frame may expand to anything: no more is read than a frame can hold. */
TEST(test_bomb)
{
	static uint8_t zeros[RECORD_FRAME_BYTES + 1];
	struct replay replayed;
	char why[160];

	test_drive(&spoilt, 5, 10, 0);
	spoilt.n = sizeof(struct record_head);
	spoilt.n += ZSTD_compress(spoilt.data + spoilt.n, 4096, zeros, sizeof(zeros), 1);
	assert_int_equal(replay(&replayed, why), -EBADMSG);
	assert_non_null(strstr(why, "damaged"));
}

TEST(test_after_end)
{
	struct replay replayed;
	char why[160];

	test_drive(&spoilt, 6, 10, 0);
	spoilt.data[spoilt.n++] = 0;
	assert_int_equal(replay(&replayed, why), -EBADMSG);
	assert_non_null(strstr(why, "follows the end"));
}

static int refuse_write(void *userdata, const void *data, size_t size)
{
	int *left = userdata;

	return (*left)-- > 0 ? 0 : -ENOSPC;
}

/* The engine goes on, the failure is kept, and nothing more is written. */
TEST(test_full_disk)
{
	struct topology *topology = test_topology_usual(1, 1);
	int left = 3;
	struct recorder *recorder = recorder_new(refuse_write, &left);
	struct input input = { .type = INPUT_DOMAIN, .domain = { 0, true } };
	struct policy policy;
	struct engine *engine;

	policy_init(&policy);
	engine = engine_new(topology, &policy);
	recorder_begin(recorder, engine, 0);
	for (int i = 0; i < 10000; i++) {
		input.now_ns = i * NS_PER_MS;
		engine_apply(engine, &input);
		assert_non_null(engine_decide(engine, 0, input.now_ns));
		engine_commit(engine, 0, ENGINE_SET);
	}
	assert_int_equal(left, -1);
	assert_int_equal(recorder->error, -ENOSPC);
	assert_int_equal(recorder_end(recorder, 0), -ENOSPC);
	recorder_free(recorder);
	engine_free(engine);
	free(topology);
}
