// SPDX-License-Identifier: GPL-2.0-only
/* What --record writes, and what becomes of it where it cannot. */
#include "test-record-sim.h"

#include <errno.h>

#include "config/keys.h"
#include "sim/recording.h"

static void test_unwritable(void **state)
{
	struct topology *topology = test_topology_usual(1, 1);
	struct recording recording;
	struct policy policy;

	policy_init(&policy);
	assert_int_equal(recording_open(&recording, "/nonexistent/recording"), -ENOENT);
	assert_int_equal(recording_open(&recording, "/dev/full"), 0);
	engine_free(record_engine_new(recording.recorder, topology, &policy));
	assert_int_equal(recording_close(&recording), -ENOSPC);
	free(topology);
}

static const char *rk3399_path;

static struct test_recording sim;

/*
 * While requests are only counted, the core's samples have no depth, no host time and no requests
 * of devices; in the next period they have only requests that started in it.
 */
static void test_counts_only(void **state)
{
	struct input_task before = { 0 };
	uint32_t n_followed = 0, n_counted = 0;
	struct record_reader *reader;
	struct record record;

	test_record_sim(&sim, rk3399_path, "io_uring1x64");
	reader = test_reader_new(&sim);
	assert_int_equal(record_reader_begin(reader), 0);
	while (record_reader_next(reader, &record) == RECORD_READ) {
		const struct input_task *task = &record.input.task;

		if (!record_is_input(record.type) || record.input.type != INPUT_TASK)
			continue;
		assert_true(task->depth <= 64);
		n_followed += task->ios[0].ios > before.ios[0].ios + 50 && task->depth > 0;
		n_counted += task->io_starts > before.io_starts + 50 && !task->depth &&
			     task->ios[0].ios == before.ios[0].ios &&
			     task->in_flight_ns == before.in_flight_ns;
		before = *task;
	}
	record_reader_free(reader);
	assert_in_range(n_followed, 5, 40);
	assert_true(n_counted >= 5);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unwritable),
		cmocka_unit_test(test_counts_only),
	};

	rk3399_path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
