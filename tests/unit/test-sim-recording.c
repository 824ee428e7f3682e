// SPDX-License-Identifier: GPL-2.0-only
/* What --record writes, and what becomes of it where it cannot. */
#include "test-record-sim.h"

#include <errno.h>

#include "config/keys.h"
#include "sim/recording.h"

TEST(test_unwritable)
{
	struct topology *topology = test_topology_usual(1, 1);
	struct recording recording;
	struct engine *engine;
	struct policy policy;

	policy_init(&policy);
	assert_int_equal(recording_open(&recording, "/nonexistent/recording"), -ENOENT);
	assert_int_equal(recording_open(&recording, "/dev/full"), 0);
	engine = engine_new(topology, &policy);
	recorder_begin(recording.recorder, engine, 0);
	engine_free(engine);
	assert_int_equal(recording_close(&recording), -ENOSPC);
	free(topology);
}

static const char *rk3399_path;

static struct test_recording sim;

/*
 * The time in flight stands still outside of learning periods.
 */
TEST(test_counts_only)
{
	struct input_task before = { 0 };
	uint32_t n_learnt = 0, n_counted = 0;
	struct record_reader *reader;
	struct engine_call call;

	test_record_sim(&sim, rk3399_path, "io_uring1x64");
	reader = test_reader_new(&sim);
	assert_int_equal(record_reader_begin(reader), 0);
	while (record_reader_next(reader, &call) == RECORD_READ) {
		const struct input_task *task;

		if (call.type != ENGINE_APPLY || call.input->type != INPUT_TASK)
			continue;
		task = &call.input->task;
		n_learnt += task->ios[0].ios > before.ios[0].ios + 50 &&
			    task->in_flight_ns > before.in_flight_ns;
		n_counted += task->io_starts > before.io_starts + 50 &&
			     task->in_flight_ns == before.in_flight_ns;
		before = *task;
	}
	test_reader_free(reader);
	assert_in_range(n_learnt, 5, 40);
	assert_true(n_counted >= 5);
}

int main(int argc, char *argv[])
{
	rk3399_path = argv[1];
	return tests_run(NULL, NULL);
}
