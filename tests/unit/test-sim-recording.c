// SPDX-License-Identifier: GPL-2.0-only
/* What --record writes, and what becomes of it where it cannot. */
#include "test-core.h"

#include <errno.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unwritable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
