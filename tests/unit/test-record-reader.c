// SPDX-License-Identifier: GPL-2.0-only
/* Files as they should not be: cut, damaged, newer, something else. Never a crash, never silence.
 */
#include "test-record-drive.h"

#include "config/keys.h"
#include "record/body.h"
#include "record/codec.h"

static struct test_recording whole, spoilt;

static int replay(struct replay *ret, char why[static 160])
{
	return test_replay(&spoilt, NULL, ret, why);
}

/* Where the last block that lies before at ends. */
static size_t last_block_end(const struct test_recording *recording, size_t at)
{
	size_t end = RECORD_FILE_HEADER, next = end;

	while (next <= at) {
		end = next;
		if (end == recording->n)
			break;
		next += RECORD_BLOCK_HEADER + recording->data[end] +
			256U * recording->data[end + 1];
	}
	return end;
}

static void test_cut(void **state)
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
		/* Never less than from a shorter file, and no more than a block is lost. */
		assert_true(some.n_inputs >= before.n_inputs);
		assert_true(some.n_decisions >= before.n_decisions);
		snprintf(expected, sizeof(expected), "byte %zu: the file is cut here",
			 last_block_end(&whole, n));
		assert_string_equal(why, expected);
		before = some;
	}
	assert_true(before.n_inputs > all.n_inputs / 2);
}

/* A bit of each byte: a flip is found, and where is said. */
static void test_flip(void **state)
{
	struct replay replayed;
	char why[160];
	int r;

	test_drive(&whole, 2, 150, 20);
	spoilt = whole;
	for (size_t i = 0; i < whole.n; i++) {
		spoilt.data[i] ^= 1 << i % 8;
		r = replay(&replayed, why);
		if (r != -EBADMSG && r != -EPROTONOSUPPORT)
			print_message("byte %zu: %d %s\n", i, r, why);
		assert_true(r == -EBADMSG || r == -EPROTONOSUPPORT);
		assert_int_equal(strncmp(why, "byte ", 5), 0);
		spoilt.data[i] = whole.data[i];
	}
}

/* The same with checksums that are right: what is read may be anything, and must be safe. */
static void check_forged(void)
{
	struct test_random random = { 3 };
	int outcomes[3] = { 0 }, refused = 0, r;
	struct replay replayed;
	char why[160];

	spoilt = whole;
	for (size_t i = 0; i < 1500; i++) {
		size_t at = RECORD_FILE_HEADER + RECORD_BLOCK_HEADER +
			    test_random_below(&random,
					      whole.n - RECORD_FILE_HEADER - RECORD_BLOCK_HEADER);

		memcpy(spoilt.data, whole.data, whole.n);
		for (int j = 0; j < 3; j++, at++)
			if (last_block_end(&whole, at) + RECORD_BLOCK_HEADER <= at && at < whole.n)
				spoilt.data[at] = test_random_next(&random);
		test_recording_seal(&spoilt);
		r = replay(&replayed, why);
		if (r < 0)
			assert_true(r == -EBADMSG || r == -EPROTONOSUPPORT);
		if (r < 0)
			refused++;
		else
			outcomes[r]++;
	}
	print_message("%d refused, %d the same, %d cut, %d differ\n", refused, outcomes[0],
		      outcomes[1], outcomes[2]);
	assert_true(refused && outcomes[REPLAY_DIFFERS]);
}

static void test_forged(void **state)
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

static void test_others(void **state)
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
		memcpy(garbage, RECORD_MAGIC "\11\0\0", RECORD_FILE_HEADER);
		refuse(garbage, sizeof(garbage), -EBADMSG, "damaged");
	}
}

static void test_other_versions(void **state)
{
	struct replay replayed;
	char why[160];

	test_drive(&spoilt, 5, 10, 0);
	spoilt.data[RECORD_MAGIC_SIZE] = RECORD_VERSION + 1;
	assert_int_equal(replay(&replayed, why), -EPROTONOSUPPORT);
	assert_non_null(strstr(why, "made by a newer wakegov: version 10"));
	spoilt.data[RECORD_MAGIC_SIZE] = RECORD_VERSION - 1;
	assert_int_equal(replay(&replayed, why), -EPROTONOSUPPORT);
	assert_non_null(strstr(why, "made by an older wakegov: version 8"));

	/* The end is the last record: a type of record that is not known yet. */
	test_drive(&spoilt, 5, 10, 0);
	spoilt.data[spoilt.n - 2] = RECORD_TYPES;
	test_recording_seal(&spoilt);
	assert_int_equal(replay(&replayed, why), -EPROTONOSUPPORT);
	assert_non_null(strstr(why, "newer wakegov"));
}

static void test_after_end(void **state)
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
static void test_full_disk(void **state)
{
	struct topology *topology = test_topology_usual(1, 1);
	int left = 3;
	struct record_sink sink = { refuse_write, &left };
	struct recorder *recorder = recorder_new(&sink);
	struct input input = { .type = INPUT_DOMAIN, .domain = { 0, true } };
	struct policy policy;
	struct engine *engine;

	policy_init(&policy);
	engine = record_engine_new(recorder, topology, &policy);
	for (int i = 0; i < 10000; i++) {
		input.now_ns = i * NS_PER_MS;
		engine_apply(engine, &input);
		assert_non_null(engine_decide(engine, 0, input.now_ns));
		engine_commit(engine, 0, ENGINE_SET);
	}
	assert_int_equal(left, -1);
	assert_int_equal(recorder_error(recorder), -ENOSPC);
	assert_int_equal(recorder_end(recorder), -ENOSPC);
	recorder_free(recorder);
	engine_free(engine);
	free(topology);
}

/* Reads a recording of a machine with two domains that has the record alone. */
static int read_one(const struct record *record)
{
	struct recorder *recorder = test_recorder_new(&spoilt);
	struct topology *topology = test_topology_usual(2, 1);
	struct record_state *fields = record_state_new();
	uint8_t block[512];
	struct record_out out = { .data = block + RECORD_BLOCK_HEADER,
				  .size = sizeof(block) - RECORD_BLOCK_HEADER };
	struct record_reader *reader;
	struct policy policy;
	struct record read;
	int r;

	policy_init(&policy);
	engine_free(record_engine_new(recorder, topology, &policy));
	assert_int_equal(recorder_flush(recorder), 0);
	assert_int_equal(record_body_put(fields, &out, record), 0);
	record_block_seal(block, out.n);
	test_recording_write(&spoilt, block, RECORD_BLOCK_HEADER + out.n);
	reader = test_reader_new(&spoilt);
	assert_int_equal(record_reader_begin(reader), 0);
	r = record_reader_next(reader, &read);
	record_reader_free(reader);
	record_state_free(fields);
	recorder_free(recorder);
	free(topology);
	return r;
}

/* A domain that the machine has, and a task that can be: what the engine does not check. */
static void test_trusted(void **state)
{
	static const struct {
		enum record_type type;
		size_t offset;
		uint32_t good, bad;
	} rows[] = {
		{ RECORD_LIMITS, offsetof(struct record, input.limits.domain), 1, 2 },
		{ RECORD_DOMAIN, offsetof(struct record, input.domain.domain), 1, 2 },
		{ RECORD_OVERRIDE, offsetof(struct record, input.override.domain), 1, 2 },
		{ RECORD_REFERENCE, offsetof(struct record, input.reference.domain), 1, 2 },
		{ RECORD_OPP, offsetof(struct record, input.opp.domain), 1, 2 },
		{ RECORD_DECIDE, offsetof(struct record, decision.domain), 1, 2 },
		{ RECORD_FORGET_TARGET, offsetof(struct record, domain), 1, 2 },
		{ RECORD_TASK, offsetof(struct record, input.task.pid), 1, 0 },
		{ RECORD_TASK_RULES, offsetof(struct record, input.task_rules.pid), 1, 0 },
		{ RECORD_CO_RUNNER, offsetof(struct record, input.co_runner.pid), 1, 0 },
		{ RECORD_OWN_CLAMPS, offsetof(struct record, input.own_clamps.pid), 1, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct record record = { .type = rows[i].type };
		uint32_t *number = (uint32_t *)((char *)&record + rows[i].offset);

		*number = rows[i].good;
		assert_int_equal(read_one(&record), RECORD_READ);
		*number = rows[i].bad;
		assert_int_equal(read_one(&record), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flip),
		cmocka_unit_test(test_forged),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_other_versions),
		cmocka_unit_test(test_after_end),
		cmocka_unit_test(test_trusted),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
