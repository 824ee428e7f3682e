// SPDX-License-Identifier: GPL-2.0-only
/* Threads that work in turn: closed forms, and what governors make of them. */
#include "test-sim.h"

#include "config/keys.h"

/* Four CPUs of 1 GHz, which take 10,000 cycles to leave idleness, in two domains. */
#define FOUR                                                                    \
	"[platform]\nio-cycles = 50000\nidle-exit-cycles = 10000\n"             \
	"[domain first]\ncpus = 0-1\nopp = 200MHz 800mV\nopp = 600MHz 900mV\n"  \
	"opp = 1GHz 1000mV\ncapacitance = 100pF\n"                              \
	"[domain second]\ncpus = 2-3\nopp = 200MHz 800mV\nopp = 600MHz 900mV\n" \
	"opp = 1GHz 1000mV\ncapacitance = 100pF\n"                              \
	"[device disk]\nlatency = 60us\nservice = 40us\nchannels = 1\n"

static struct result run(const char *spec, const char *governor, const struct policy *policy)
{
	struct run_options options = {
		.seed = 1,
		.warm_up_ns = TEST_SIM_S,
		.duration_ns = 2 * TEST_SIM_S,
		.policy = policy,
	};
	struct platform platform;
	struct workload workload;
	struct result result;

	test_sim_platform(FOUR, &platform);
	test_sim_workload(&platform, spec, &workload);
	assert_int_equal(result_run(&platform, &workload, sim_governor_find(governor), NULL,
				    &options, &result),
			 0);
	return result;
}

/* One at a time: the sum of all turns. As many as there are CPUs: the longest. By a timer: its. */
static void test_closed_forms(void **state)
{
	static const struct {
		const char *spec;
		double rounds_per_s;
	} cases[] = {
		{ "chain2x1:cycles=40000", 1e9 / (2 * 50000) },
		{ "chain4x1:cycles=90000", 1e9 / (4 * 100000) },
		{ "chain2x1:cycles=90000,first-cycles=40000", 1e9 / (100000 + 50000) },
		/* Each waits for its turn on the one CPU, which is never idle. */
		{ "chain3x1:cycles=50000,cpus=1", 1e9 / (3 * 50000) },
		{ "chain4x8:cycles=90000", 1e9 / 90000 },
		/* Two on the way: half of the time of one. */
		{ "chain4x2:cycles=90000", 2e9 / (4 * 100000) },
		{ "chain3x1:cycles=50000,period=10ms", 100 },
		/* Open arrivals; and more of them than the threads after the first can do. */
		{ "chain3x64:cycles=900000,first-cycles=10000,period=1ms,cpus=0-2", 1000 },
		{ "chain3x64:cycles=4900000,first-cycles=10000,period=1ms,cpus=0-3",
		  1e9 / 4900000 },
		/* The first leaves idleness once more when it has thought. */
		{ "chain2x1:cycles=90000,think=1ms", 1 / (1e-3 + 210e-6) },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct result result = run(cases[i].spec, "performance", NULL);

		print_message("%s: %.1f rounds/s, expected %.1f\n", cases[i].spec,
			      result.rounds_per_s, cases[i].rounds_per_s);
		assert_true(result.rounds_per_s > 0.995 * cases[i].rounds_per_s);
		assert_true(result.rounds_per_s < 1.005 * cases[i].rounds_per_s);
	}
}

/*
 * Where each CPU is half idle schedutil stays at the lowest OPP, as wakegov does without chains;
 * with them it has the rate of the highest.
 */
static void test_governors(void **state)
{
	/* Rounds are no part of a tick's period, or ticks would meet always the same thread. */
	static const char *const specs[] = { "chain2x1:cycles=43000", "chain4x1:cycles=43000",
					     "chain4x2:cycles=43000" };
	struct policy without;

	policy_init(&without);
	without.chains = false;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		double full = run(specs[i], "performance", NULL).rounds_per_s;
		double found[] = { run(specs[i], "schedutil", NULL).rounds_per_s / full,
				   run(specs[i], "wakegov", &without).rounds_per_s / full,
				   run(specs[i], "wakegov", NULL).rounds_per_s / full };

		print_message("%s: of performance's, schedutil %.3f, wakegov %.3f without chains, "
			      "%.3f with them\n",
			      specs[i], found[0], found[1], found[2]);
		assert_true(found[0] < 0.7);
		assert_true(found[1] < 0.7);
		assert_true(found[2] > 0.98);
	}
}

/*
 * A client that a timer starts, and its server, which work for 4 of 12 ms at the highest OPP: what
 * that takes of one CPU, with headroom, is the second OPP. Two threads with timers of their own
 * are no chain.
 */
static void test_timers(void **state)
{
	struct result chain = run("chain2x1:cycles=2000000,period=12ms", "wakegov", NULL);
	struct result lone =
		run("busyx1:cycles=2000000,period=12ms+busyx1:cycles=2000000,period=11ms",
		    "wakegov", NULL);
	struct result full = run("chain2x1:cycles=2000000,period=12ms", "performance", NULL);

	print_message("rpc: %.1f rounds/s at %.0f and %.0f MHz; two timers: %.0f MHz\n",
		      chain.rounds_per_s, chain.mhz[0], chain.mhz[1], lone.mean_mhz);
	assert_true(chain.rounds_per_s > 0.99 * full.rounds_per_s);
	assert_true(chain.mean_mhz < 700);
	assert_true(lone.mean_mhz < 1.01 * run("busyx1:cycles=2000000,period=12ms+busyx1:cycles="
					       "2000000,period=11ms",
					       "schedutil", NULL)
						    .mean_mhz);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed_forms),
		cmocka_unit_test(test_governors),
		cmocka_unit_test(test_timers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
