/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A recording of a second of the simulator under wakegov's own governor. */

#include "test-record.h"

#include "sim/result.h"

static inline void test_record_sim(struct test_recording *recording, const char *platform_path,
				   const char *spec)
{
	struct platform *platform = calloc(1, sizeof(*platform));
	struct workload *workload = calloc(1, sizeof(*workload));
	struct recorder *recorder = test_recorder_new(recording);
	struct run_options options = {
		.seed = 1,
		.warm_up_ns = NS_PER_S / 10,
		.duration_ns = NS_PER_S,
		.recorder = recorder,
	};
	struct result result;
	char *message = NULL;

	assert_int_equal(platform_load(platform_path, platform, &message), 0);
	assert_int_equal(workload_parse(spec, platform, workload, &message), 0);
	assert_int_equal(result_run(platform, workload, sim_governor_find("wakegov"), NULL,
				    &options, &result),
			 0);
	assert_int_equal(recorder_end(recorder), 0);
	recorder_free(recorder);
	free(workload);
	free(platform);
}
