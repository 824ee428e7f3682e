/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A recording of a second of the simulator under wakegov's own governor. */

#include "test-record.h"

#include "sim/result.h"

/* mv: the voltage of the OPP before the highest of each domain; 0: as the platform has it. */
static inline void test_record_sim_at(struct test_recording *recording, const char *platform_path,
				      const char *spec, uint32_t mv)
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
	for (uint32_t i = 0; mv && i < platform->n_domains; i++)
		platform->domains[i].opps[platform->domains[i].n_opps - 2].mv = mv;
	assert_int_equal(workload_parse(spec, platform, workload, &message), 0);
	assert_int_equal(result_run(platform, workload, sim_governor_find("wakegov"), NULL,
				    &options, &result),
			 0);
	assert_int_equal(recorder_end(recorder, 0), 0);
	recorder_free(recorder);
	free(workload);
	free(platform);
}

static inline void test_record_sim(struct test_recording *recording, const char *platform_path,
				   const char *spec)
{
	test_record_sim_at(recording, platform_path, spec, 0);
}
