// SPDX-License-Identifier: GPL-2.0-only
/* Invariant: the same inputs, the same decisions, byte for byte; and another policy, others. */
#include "test-record-drive.h"
#include "test-record-sim.h"

static struct test_recording first, second;

/* Where the frame of the first call lies, behind the state; and the time of the end. */
static size_t calls_begin(struct test_recording *recording, uint64_t *ret_end_ns)
{
	struct record_reader *reader = test_reader_new(recording);
	struct engine_call call;
	size_t at;

	assert_int_equal(record_reader_begin(reader), 0);
	assert_int_equal(record_reader_next(reader, &call), RECORD_READ);
	at = reader->offset;
	while (record_reader_next(reader, &call) == RECORD_READ)
		;
	*ret_end_ns = reader->end_ns;
	test_reader_free(reader);
	return at;
}

/*
 * Replays first, recorded again into second: not a byte of the calls may be another. Of the state,
 * what only makes it quick may be: in which order two tasks of one hash are found.
 */
static void check_replay(uint64_t n_decisions)
{
	struct recorder *again = test_recorder_new(&second);
	struct replay replay;
	uint64_t end_ns, again_ns;
	size_t at = calls_begin(&first, &end_ns), again_at;
	char why[160];

	assert_int_equal(test_replay(&first, again, &replay, why), REPLAY_SAME);
	assert_int_equal(recorder_end(again, end_ns), 0);
	recorder_free(again);
	assert_true(replay.n_inputs > 0);
	if (n_decisions)
		assert_int_equal(replay.n_decisions, n_decisions);
	again_at = calls_begin(&second, &again_ns);
	assert_int_equal(again_ns, end_ns);
	assert_int_equal(second.n - again_at, first.n - at);
	assert_memory_equal(second.data + again_at, first.data + at, first.n - at);
}

TEST(test_random)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		check_replay(test_drive(&first, seed, 3000, 0));
}

/* What the engine knew at the start of the recording is all that the replay needs. */
TEST(test_late)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		check_replay(test_drive_late(&first, seed, 100 * seed, 3000));
}

static const char *rk3399_path;

TEST(test_sim)
{
	static const char *const specs[] = {
		"psyncx1",	 "psyncx4",   "psyncx12",	  "io_uring1x1",
		"io_uring6x128", "libaio2x8", "chain3x1+psyncx1",
	};
	struct replay replay;
	char why[160];

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		test_record_sim(&first, rk3399_path, specs[i]);
		check_replay(0);
		assert_int_equal(test_replay(&first, NULL, &replay, why), REPLAY_SAME);
		print_message("%s: %llu inputs, %llu decisions in %zu bytes, %.1f per input\n",
			      specs[i], (unsigned long long)replay.n_inputs,
			      (unsigned long long)replay.n_decisions, first.n,
			      (double)first.n / replay.n_inputs);
	}
}

/* What the OPPs take is in the recording: without it another OPP would be chosen in the replay. */
TEST(test_inefficient)
{
	test_record_sim_at(&first, rk3399_path, "psyncx4+busyx2:cycles=16000000,period=20ms", 3000);
	check_replay(0);
}

int main(int argc, char *argv[])
{
	rk3399_path = argv[1];
	return tests_run(NULL, NULL);
}
