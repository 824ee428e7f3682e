// SPDX-License-Identifier: GPL-2.0-only
/* Threads that work in turn: closed forms, and what governors make of them. */
#include <errno.h>

#include "test-sim.h"

#include "config/keys.h"
#include "sim/governor.h"
#include "sim/sim_private.h"
#include "sim/wakegov_kernel.h"

/* CPUs of 1 GHz, which take 10,000 cycles to leave idleness. */
#define PLATFORM                                                    \
	"[platform]\nio-cycles = 50000\nidle-exit-cycles = 10000\n" \
	"[device disk]\nlatency = 60us\nservice = 40us\nchannels = 1\n"
#define DOMAIN(name, cpus)                                                             \
	"[domain " name "]\ncpus = " cpus "\nopp = 200MHz 800mV\nopp = 600MHz 900mV\n" \
	"opp = 1GHz 1000mV\ncapacitance = 100pF\n"
#define TWO_DOMAINS  PLATFORM DOMAIN("first", "0-1") DOMAIN("second", "2-3")
#define FOUR_DOMAINS PLATFORM DOMAIN("a", "0") DOMAIN("b", "1") DOMAIN("c", "2") DOMAIN("d", "3")

static struct result run(const char *spec, const char *governor, const struct policy *policy)
{
	return test_sim_run_for(TWO_DOMAINS, spec, governor, policy, TEST_SIM_S, 2 * TEST_SIM_S);
}

static struct result run_on_four(const char *spec, const char *governor)
{
	return test_sim_run_for(FOUR_DOMAINS, spec, governor, NULL, TEST_SIM_S, 2 * TEST_SIM_S);
}

/* The first moments, in which chains are found. */
static struct result run_start(const char *spec, const char *governor)
{
	return test_sim_run_for(FOUR_DOMAINS, spec, governor, NULL, 0, TEST_SIM_S / 5);
}

/* One at a time: the sum of all turns. As many as there are CPUs: the longest. By a timer: its. */
TEST(test_closed_forms)
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
		/* Who is woken leaves idleness again when it looks. */
		{ "chain2x1:cycles=430000,look=300us", 1e9 / (2 * (430000 + 300000 + 20000)) },
		/* A parent and its child by turns; two children. */
		{ "forkx1:cycles=90000,first-cycles=40000", 1e9 / (100000 + 50000) },
		{ "forkx2:cycles=2000000,first-cycles=300000", 2e9 / (2010000 + 310000) },
		{ "forkx1:cycles=90000,first-cycles=40000,period=10ms", 100 },
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
TEST(test_governors)
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
 * The same with threads that take work over when they look. A shell's commands have more by
 * schedutil, which gives a new task half of what its CPU has left; by wakegov each of them also has
 * its parent's utilisation, and all run at the highest OPP from soon after the first on.
 */
TEST(test_looks_and_forks)
{
	static const struct {
		const char *spec;
		double schedutil_most, least, least_at_start;
	} cases[] = {
		/* At the start 0.58 to 0.71, where a look is an external wait. */
		{ "chain2x1:cycles=43000,look=3us", 0.3, 0.98, 0.65 },
		{ "chain2x1:cycles=430000,look=300us", 0.4, 0.98, 0.65 },
		{ "chain4x1:cycles=2000000,look=1ms", 0.4, 0.98, 0.73 },
		{ "forkx1:cycles=90000,first-cycles=40000", 0.5, 0.98, 0.72 },
		{ "forkx1:cycles=2000000,first-cycles=300000", 0.8, 0.98, 0.8 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *spec = cases[i].spec;
		double full = run_on_four(spec, "performance").rounds_per_s;
		double su = run_on_four(spec, "schedutil").rounds_per_s / full;
		double found = run_on_four(spec, "wakegov").rounds_per_s / full;
		double at_start = run_start(spec, "wakegov").rounds_per_s / full;

		print_message("%s: of performance's, schedutil %.3f, wakegov %.3f, at the start "
			      "%.3f\n",
			      spec, su, found, at_start);
		assert_true(su < cases[i].schedutil_most);
		assert_true(found > cases[i].least);
		assert_true(at_start > cases[i].least_at_start);
	}
}

/*
 * What a task needs that waits is needed on the CPU of the one that was at work all the while, when
 * that one wakes it, unless as much was compared with that CPU's own; else its waker is no help.
 */
TEST(test_need_at_waker)
{
	static const struct {
		uint64_t waker_since_ns;
		uint32_t near_q, noted_q;
	} cases[] = {
		{ 1, 0, CHAIN_ONE },
		{ 1, CHAIN_ONE, 0 },
		{ 3 * TEST_SIM_S, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wakegov_sim_task tasks[2] = {};
		struct sim_thread threads[2] = { { .index = 0, .waker = &threads[1] },
						 { .index = 1, .cpu = 1 } };
		struct wakegov_sim w = { .tasks = tasks };
		struct sim sim = { .governor_data = &w, .now_ns = 4 * TEST_SIM_S };
		struct wakegov_sim_cpu *c = &w.cpus[1];

		for (int j = 0; j < 2; j++) {
			tasks[j].has_chain = true;
			chain_start(&tasks[j].chain, 1, cases[i].waker_since_ns, 1024);
		}
		tasks[0].chain.util_q = CHAIN_ONE;
		tasks[0].chain.slept_ns = tasks[0].chain.updated_ns = 2 * TEST_SIM_S;
		c->load.capacity = 1024;
		c->band.chain_q = UINT32_MAX;
		c->compared.near_q = cases[i].near_q;
		wakegov_sim_chain_wake(&sim, &threads[0]);
		assert_int_equal(c->chain.util_q, cases[i].noted_q);
		assert_int_equal(w.cpus[0].chain.util_q, 0);
		assert_int_equal(tasks[0].chain.slept_ns, 0);
	}
}

/*
 * A client that a timer starts, and its server, which work for 4 of 12 ms at the highest OPP: what
 * that takes of one CPU, with headroom, is the second OPP. Two threads with timers of their own
 * are no chain.
 */
TEST(test_timers)
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

/*
 * A thread that another woke before its own first event sleeps when that comes: it was queued twice
 * on its CPU, where time then stood still.
 */
TEST(test_woken_before_its_start)
{
	struct run_options options = { .duration_ns = TEST_SIM_S };
	struct platform platform;
	struct workload workload;
	struct result result;

	test_sim_platform(TWO_DOMAINS, &platform);
	test_sim_workload(&platform, "chain3x4:cpus=2-3,cycles=250000,first-cycles=70000,look=78us",
			  &workload);
	for (options.seed = 1; options.seed <= 40; options.seed++)
		assert_int_equal(result_run(&platform, &workload, sim_governor_find("powersave"),
					    NULL, &options, &result),
				 0);
}

static void call_again(struct sim *sim)
{
	sim_set_timer(sim, sim->now_ns);
}

static int start_stuck(struct sim *sim, const uint32_t *fixed_khz)
{
	call_again(sim);
	return 0;
}

static void stop_stuck(struct sim *sim)
{
}

/* A governor whose timer ends at once, again and again. */
TEST(test_time_that_does_not_go_on)
{
	static const struct sim_governor stuck = {
		.name = "stuck",
		.start = start_stuck,
		.stop = stop_stuck,
		.on_timer = call_again,
	};
	struct run_options options = { .seed = 1, .duration_ns = TEST_SIM_S };
	struct platform platform;
	struct workload workload;
	struct result result;

	test_sim_platform(TWO_DOMAINS, &platform);
	test_sim_workload(&platform, "psyncx1", &workload);
	assert_int_equal(result_run(&platform, &workload, &stuck, NULL, &options, &result), -ELOOP);
}
