/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the tests of the simulator share: small machines from text, and runs on them. */

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/result.h"

/* The path of a new file that holds text, in ret. The caller unlinks it. */
static inline void test_sim_write(const char *text, size_t size, char ret[static 32])
{
	int fd;

	strcpy(ret, "/tmp/wakegov-sim-XXXXXX");
	fd = mkstemp(ret);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	close(fd);
}

static inline void test_sim_platform(const char *text, struct platform *ret)
{
	char path[32], *message = NULL;
	int r;

	test_sim_write(text, strlen(text), path);
	r = platform_load(path, ret, &message);
	if (r < 0)
		print_message("%s\n", message);
	assert_int_equal(r, 0);
	unlink(path);
}

static inline void test_sim_workload(const struct platform *platform, const char *spec,
				     struct workload *ret)
{
	char *message = NULL;
	int r = workload_parse(spec, platform, ret, &message);

	if (r < 0)
		print_message("%s\n", message);
	assert_int_equal(r, 0);
}

static inline struct result test_sim_run(const struct platform *platform,
					 const struct workload *workload, const char *governor,
					 uint64_t duration_ns)
{
	struct run_options options = {
		.seed = 1,
		.warm_up_ns = 200000000,
		.duration_ns = duration_ns,
	};
	struct result result;
	int r = result_run(platform, workload, sim_governor_find(governor), NULL, &options,
			   &result);

	assert_int_equal(r, 0);
	return result;
}

#define TEST_SIM_S 1000000000ULL

/* One CPU of 1 GHz, no costs but 50,000 cycles per I/O; a device of 100 µs. */
#define TEST_SIM_TINY                                                      \
	"[platform]\nio-cycles = 50000\n"                                  \
	"[domain cpu0]\ncpus = 0\nopp = 500MHz 800mV\nopp = 1GHz 1000mV\n" \
	"capacitance = 100pF\n"                                            \
	"[device disk]\nlatency = 60us\nservice = 40us\nchannels = 1\n"

/* On a machine from text. policy: NULL for the built-in values. */
static inline struct result test_sim_run_for(const char *machine, const char *spec,
					     const char *governor, const struct policy *policy,
					     uint64_t warm_up_ns, uint64_t duration_ns)
{
	struct run_options options = {
		.seed = 1,
		.warm_up_ns = warm_up_ns,
		.duration_ns = duration_ns,
		.policy = policy,
	};
	struct platform platform;
	struct workload workload;
	struct result result;

	test_sim_platform(machine, &platform);
	test_sim_workload(&platform, spec, &workload);
	assert_int_equal(result_run(&platform, &workload, sim_governor_find(governor), NULL,
				    &options, &result),
			 0);
	return result;
}
