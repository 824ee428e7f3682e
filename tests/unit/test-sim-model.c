// SPDX-License-Identifier: GPL-2.0-only
/* The model against what must hold whatever its parameters: closed forms and conservation. */
#include <math.h>

#include "test-sim.h"

#include "sim/output.h"

#define NOISY                                                                     \
	"[platform]\nio-cycles = 40000\nidle-exit-cycles = 20000\n"               \
	"interrupt-share = 40%\n"                                                 \
	"[domain little]\ncpus = 0-1\nwork-per-cycle = 60%\nopp = 400MHz 800mV\n" \
	"opp = 1GHz 900mV\ncapacitance = 100pF\nstatic-power = 10mW\n"            \
	"[domain big]\ncpus = 2\nopp = 400MHz 800mV\nopp = 2GHz 1100mV\n"         \
	"capacitance = 400pF\ntransition-latency = 50us\n"                        \
	"[device disk]\nlatency = 50us\nservice = 100us\nchannels = 4\n"          \
	"variation = 30%\nmax-rate = 30000/s\n"

static bool is_near(double found, double expected, double tolerance)
{
	if (fabs(found - expected) <= tolerance * expected)
		return true;
	print_message("found %f, expected %f\n", found, expected);
	return false;
}

/* IOPS = 1 / (L + C / f), whatever share of C is in interrupts or idle exits. */
static void test_psync_closed_form(void **state)
{
	static const struct {
		const char *costs;
		double cycles;
	} cases[] = {
		{ "io-cycles = 50000", 50000 },
		{ "io-cycles = 50000\ninterrupt-share = 0%", 50000 },
		{ "io-cycles = 50000\ninterrupt-share = 100%", 50000 },
		{ "io-cycles = 50000\nbatch-cycles = 10000", 60000 },
		{ "io-cycles = 50000\nidle-exit-cycles = 20000", 70000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		struct platform platform;
		struct workload workload;

		snprintf(text, sizeof(text), "[platform]\n%s\n%s", cases[i].costs,
			 strchr(TEST_SIM_TINY, '\n') + strlen("\nio-cycles = 50000\n"));
		test_sim_platform(text, &platform);
		test_sim_workload(&platform, "psync", &workload);
		for (int fast = 0; fast < 2; fast++) {
			double f = fast ? 1e9 : 0.5e9;
			struct result result = test_sim_run(&platform, &workload,
							    fast ? "performance" : "powersave",
							    5 * TEST_SIM_S);

			assert_true(
				is_near(result.iops, 1 / (100e-6 + cases[i].cycles / f), 0.005));
		}
	}
}

/* Work takes as many more cycles on a CPU as it does less in each. */
static void test_work_per_cycle(void **state)
{
	struct platform platform;
	struct workload workload;
	struct result result;

	test_sim_platform(NOISY, &platform);
	assert_int_equal(platform.domains[0].capacity, 1000 * 600 * 1024 / (2000 * 1000));
	assert_int_equal(platform.domains[1].capacity, 1024);
	platform.devices[0].variation_permille = 0;
	test_sim_workload(&platform, "psync:cpus=1", &workload);
	result = test_sim_run(&platform, &workload, "performance", 5 * TEST_SIM_S);
	assert_true(is_near(result.iops, 1 / (150e-6 + 60000 / 0.6 / 1e9), 0.005));
}

/* L = λ · W, with W known: alone on the device, a request takes 100 µs. */
static void test_little(void **state)
{
	struct platform platform;
	struct workload workload;
	struct result result;

	test_sim_platform(TEST_SIM_TINY, &platform);
	test_sim_workload(&platform, "psync", &workload);
	result = test_sim_run(&platform, &workload, "performance", 5 * TEST_SIM_S);
	assert_true(is_near(result.devices[0].mean_latency_us, 100, 0.001));
	assert_true(is_near(result.devices[0].mean_depth, result.iops * 100e-6, 0.001));
	assert_true(
		is_near(result.devices[0].idle_percent, 100 - 100 * result.iops * 100e-6, 0.001));
	/* All of the idle time is this thread's host time, and it runs for 65 % of the 50 µs. */
	assert_true(is_near(result.host_percent, result.devices[0].idle_percent, 0.001));
	assert_true(is_near(result.running_percent, 65, 0.002));
	assert_true(is_near(result.off_queue_percent, 35, 0.002));
}

static void test_saturation(void **state)
{
	static const char *const specs[] = { "io_uring1x1024", "io_uring3x128", "psyncx64",
					     "libaio3x64" };
	struct platform platform;
	struct workload workload;

	test_sim_platform(NOISY, &platform);
	platform.costs.io_cycles = 1000;
	platform.costs.idle_exit_cycles = 0;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct result result;

		test_sim_workload(&platform, specs[i], &workload);
		result = test_sim_run(&platform, &workload, "performance", 2 * TEST_SIM_S);
		assert_true(result.iops <= 30000 * 1.001);
		assert_true(result.iops > 30000 * 0.9);
		assert_true(result.devices[0].idle_percent < 0.1);
	}
}

/* Without a highest rate, channels / service is one. */
static void test_channels_limit(void **state)
{
	struct platform platform;
	struct workload workload;
	struct result result;

	test_sim_platform(TEST_SIM_TINY, &platform);
	test_sim_workload(&platform, "io_uring1x64:cycles=1000", &workload);
	result = test_sim_run(&platform, &workload, "performance", 2 * TEST_SIM_S);
	assert_true(is_near(result.iops, 25000, 0.001));
}

static uint64_t sum_of(const struct sim_cpu *cpu)
{
	return cpu->thread_ns + cpu->interrupt_ns + cpu->idle_exit_ns;
}

/* Nobody works longer than there is time, and what CPUs did is what their domains count. */
static void check_conservation(const struct sim *sim)
{
	for (uint32_t i = 0; i < sim->platform->n_domains; i++) {
		const struct sim_domain *domain = &sim->domains[i];
		uint64_t busy_ns = 0, opp_ns = 0, cpu_ns = 0;

		for (uint32_t j = 0; j < domain->info->n_opps; j++) {
			busy_ns += domain->busy_ns[j];
			opp_ns += domain->opp_ns[j];
		}
		sim_for_each_cpu(sim, cpu, i) {
			assert_true(sum_of(&sim->cpus[cpu]) <= sim->now_ns);
			cpu_ns += sum_of(&sim->cpus[cpu]);
		}
		assert_true(busy_ns == cpu_ns);
		assert_true(opp_ns == sim->now_ns);
	}
}

static void test_conservation(void **state)
{
	static const char *const specs[] = {
		"psyncx4+busyx2:cycles=3000000,think=5ms",
		"io_uring2x32+psyncx3:cpus=0,think=200us+busyx1:cycles=100000000",
		"psyncx8:flush-every=100ms,flush-for=20ms,thermal-every=300ms,thermal-for=100ms",
	};

	struct platform platform;
	struct workload workload;

	test_sim_platform(NOISY, &platform);
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		for (int g = 0; sim_governors[g]; g++) {
			static const uint32_t fixed_khz[] = { 400000, 2000000 };
			uint64_t thread_ns = 0, run_ns = 0;
			struct sim *sim;

			test_sim_workload(&platform, specs[i], &workload);
			assert_int_equal(sim_new(&platform, &workload, sim_governors[g], fixed_khz,
						 5, NULL, NULL, &sim),
					 0);
			assert_int_equal(sim_run(sim, TEST_SIM_S), 0);
			check_conservation(sim);
			for (uint32_t t = 0; t < sim->n_threads; t++) {
				const struct sim_thread *thread = &sim->threads[t];

				run_ns += thread->run_ns;
				assert_true(thread->run_ns > 0);
				assert_true(thread->io_starts - thread->io_done <=
					    thread->group->depth);
				assert_true(thread->host.running_ns <= thread->host.idle_ns);
			}
			for (uint32_t cpu = 0; cpu < 3; cpu++)
				thread_ns += sim->cpus[cpu].thread_ns;
			assert_true(run_ns == thread_ns);
			sim_free(sim);
		}
}

static void print_csv(const struct platform *platform, const struct workload *workload,
		      uint64_t seed, char ret[static 4096])
{
	struct run_options options = { seed, 100000000, TEST_SIM_S };
	FILE *out = fmemopen(ret, 4096, "w");
	struct result result;

	assert_non_null(out);
	output_csv_header(out, platform);
	for (int i = 0; sim_governors[i]; i++) {
		if (sim_governors[i] == &sim_governor_fixed)
			assert_int_equal(oracle_run(platform, workload, &options, &result), 0);
		else
			assert_int_equal(result_run(platform, workload, sim_governors[i], NULL,
						    &options, &result),
					 0);
		output_csv(out, platform, &result);
	}
	fclose(out);
}

static void test_seed(void **state)
{
	char first[4096], again[4096], other[4096];
	struct platform platform;
	struct workload workload;

	test_sim_platform(NOISY, &platform);
	test_sim_workload(&platform, "psyncx4+busyx1:cycles=5000000,think=3ms", &workload);
	print_csv(&platform, &workload, 1, first);
	print_csv(&platform, &workload, 1, again);
	print_csv(&platform, &workload, 2, other);
	assert_string_equal(first, again);
	assert_string_not_equal(first, other);
	assert_non_null(strstr(first, "workload,governor,iops,mean_mhz,mhz_little,mhz_big,"
				      "lowest_opp_pct,changes_per_s,energy_j,rounds_per_s\n"));
}

/* A flush of 20 ms in 100 takes a fifth of the I/O; a thermal limit shows in the frequency. */
static void test_pauses(void **state)
{
	struct platform platform;
	struct workload workload;
	struct result free, paused;

	test_sim_platform(TEST_SIM_TINY, &platform);
	test_sim_workload(&platform, "psync", &workload);
	free = test_sim_run(&platform, &workload, "performance", 10 * TEST_SIM_S);
	test_sim_workload(&platform, "psync:flush-every=100ms,flush-for=20ms", &workload);
	paused = test_sim_run(&platform, &workload, "performance", 10 * TEST_SIM_S);
	assert_true(is_near(paused.iops, 0.8 * free.iops, 0.005));
	test_sim_workload(&platform, "psync:thermal-every=100ms,thermal-for=50ms", &workload);
	paused = test_sim_run(&platform, &workload, "performance", 10 * TEST_SIM_S);
	assert_true(is_near(paused.mean_mhz, 750, 0.01));
}

static void test_tiny(const char *more, struct platform *ret)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s%s", TEST_SIM_TINY, more);
	test_sim_platform(text, ret);
}

/* The logarithm of the speed has the variance σ² and the correlation exp(−t / τ). */
static void test_drift(void **state)
{
	enum { PER_TAU = 4, SAMPLES = 20000 * PER_TAU };
	static double x[SAMPLES];
	struct sim_condition condition, sparse;
	double square = 0, near = 0, far = 0;
	struct platform platform;

	test_tiny("drift-sigma = 30%\ndrift-tau = 10ms\n", &platform);
	sim_condition_init(&condition, &platform.devices[0], 1, 0);
	sim_condition_init(&sparse, &platform.devices[0], 1, 0);
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t at_ns = i * (10000000ULL / PER_TAU), ppm;

		ppm = sim_condition_slowness_ppm(&condition, at_ns);
		/* However often it is asked. */
		if (i % 1000 == 0)
			assert_true(sim_condition_slowness_ppm(&sparse, at_ns) == ppm);
		x[i] = -log(ppm / 1e6);
		square += x[i] * x[i] / SAMPLES;
		near += i < PER_TAU ? 0 : x[i] * x[i - PER_TAU] / SAMPLES;
		far += i < 2 * PER_TAU ? 0 : x[i] * x[i - 2 * PER_TAU] / SAMPLES;
	}
	assert_true(is_near(square, 0.3 * 0.3, 0.05));
	assert_true(is_near(near / square, exp(-1), 0.05));
	assert_true(is_near(far / square, exp(-2), 0.15));
}

/* A reader that only waits for the device gets the mean speed, exp(σ² / 2). */
static void test_drift_rate(void **state)
{
	struct platform platform;
	struct workload workload;
	struct result result;

	test_tiny("drift-sigma = 40%\ndrift-tau = 5ms\n", &platform);
	test_sim_workload(&platform, "psync:cycles=1", &workload);
	result = test_sim_run(&platform, &workload, "performance", 60 * TEST_SIM_S);
	assert_true(is_near(result.iops, 10000 * exp(0.4 * 0.4 / 2), 0.02));
	/* The highest rate drifts too. */
	platform.devices[0].max_rate_per_s = 8000;
	result = test_sim_run(&platform, &workload, "performance", 60 * TEST_SIM_S);
	assert_true(is_near(result.iops, 8000 * exp(0.4 * 0.4 / 2), 0.02));
}

/* A device that pauses has the rest of the time, wherever its pauses lie. */
static void test_device_pauses(void **state)
{
	struct platform platform;
	struct workload workload;
	struct result free, paused;

	test_tiny("", &platform);
	test_sim_workload(&platform, "psync", &workload);
	free = test_sim_run(&platform, &workload, "performance", 10 * TEST_SIM_S);
	test_tiny("pause-every = 100ms\npause-for = 30ms\n", &platform);
	paused = test_sim_run(&platform, &workload, "performance", 10 * TEST_SIM_S);
	assert_true(is_near(paused.iops, 0.7 * free.iops, 0.01));
}

/* For a fifth of the time a neighbour takes three quarters: 100 µs become 400 µs. */
static void test_neighbour(void **state)
{
	struct platform platform;
	struct workload workload;
	struct result result;

	test_tiny("neighbour-every = 1s\nneighbour-for = 200ms\nneighbour-part = 75%\n", &platform);
	test_sim_workload(&platform, "psync", &workload);
	result = test_sim_run(&platform, &workload, "performance", 20 * TEST_SIM_S);
	assert_true(is_near(result.iops, 0.8 / (100e-6 + 50e-6) + 0.2 / (400e-6 + 50e-6), 0.01));
}

/* Under io.max there is the limit, at any depth and of all threads together, or what was there. */
static void test_io_max(void **state)
{
	static const struct {
		const char *spec;
		double iops;
	} cases[] = {
		{ "psync:io-max=3000/s", 3000 },       { "psyncx4:io-max=1234/s", 1234 },
		{ "io_uring2x16:io-max=777/s", 777 },  { "libaio1x64:io-max=15/s", 15 },
		{ "psync:io-max=7000/s", 1 / 150e-6 },
	};
	struct platform platform;
	struct workload workload;
	struct result result;

	test_tiny("", &platform);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		test_sim_workload(&platform, cases[i].spec, &workload);
		result = test_sim_run(&platform, &workload, "performance", 20 * TEST_SIM_S);
		assert_true(is_near(result.iops, cases[i].iops, 0.005));
	}
}

/* 300 I/Os of a slice go at once, and each 300 more 100 ms later; a new slice starts when needed.
 */
static void test_io_max_slices(void **state)
{
	const uint64_t slice_ns = 100000000, start_ns = 7000;
	struct sim_throttle throttle = {};

	for (uint64_t i = 0; i < 1000; i++)
		assert_true(sim_throttle_take(&throttle, 3000, start_ns) ==
			    start_ns + i / 300 * slice_ns);
	assert_true(sim_throttle_take(&throttle, 3000, 5 * slice_ns) == 5 * slice_ns);
	for (uint64_t i = 1; i < 300; i++)
		assert_true(sim_throttle_take(&throttle, 3000, 5 * slice_ns) == 5 * slice_ns);
	assert_true(sim_throttle_take(&throttle, 3000, 5 * slice_ns) == 6 * slice_ns);
}

static uint64_t seen_starts, seen_ends;

static int start_nothing(struct sim *sim, const uint32_t *fixed_khz)
{
	return 0;
}

static void see_start(struct sim *sim, struct sim_thread *thread)
{
	seen_starts++;
}

static void see_end(struct sim *sim, struct sim_thread *thread, struct sim_cpu *cpu)
{
	seen_ends++;
}

/* Of the 300 I/Os of a slice as many as are in flight were held back, and sent by the kernel. */
static void test_io_max_senders(void **state)
{
	static const struct sim_governor governor = {
		.name = "sees",
		.start = start_nothing,
		.on_io_start = see_start,
		.on_io_complete = see_end,
	};
	static const struct {
		const char *spec;
		double held;
	} cases[] = {
		{ "psync:cycles=1000,io-max=3000/s", 1 },
		{ "io_uring1x64:cycles=1000,io-max=3000/s", 64 },
	};
	struct platform platform;
	struct workload workload;
	struct sim *sim;

	test_tiny("", &platform);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		seen_starts = seen_ends = 0;
		test_sim_workload(&platform, cases[i].spec, &workload);
		assert_int_equal(
			sim_new(&platform, &workload, &governor, NULL, 1, NULL, NULL, &sim), 0);
		assert_int_equal(sim_run(sim, 20 * TEST_SIM_S), 0);
		assert_true(is_near(seen_starts, 20 * (3000 - 10 * cases[i].held), 0.005));
		assert_in_range(seen_starts - seen_ends, 0, cases[i].held);
		sim_free(sim);
	}
}

/* Three tenths of the time with other cycles, and a sleep before each request. */
static void test_phases(void **state)
{
	struct platform platform;
	struct workload workload;
	struct result result;

	test_tiny("", &platform);
	test_sim_workload(&platform,
			  "psync:cycles=50000,phase-every=1s,phase-for=300ms,"
			  "phase-cycles=100000,phase-think=300us",
			  &workload);
	result = test_sim_run(&platform, &workload, "performance", 10 * TEST_SIM_S);
	assert_true(is_near(result.iops, 0.7 / 150e-6 + 0.3 / 500e-6, 0.005));
	test_sim_workload(&platform,
			  "busy:cycles=1000000,phase-every=1s,phase-for=500ms,phase-cycles=500000",
			  &workload);
	result = test_sim_run(&platform, &workload, "performance", 10 * TEST_SIM_S);
	assert_true(is_near(result.rounds_per_s, 0.5 * 1000 + 0.5 * 2000, 0.005));
}

struct sum {
	uint64_t next_ns;
	double ios, energy_j;
};

static void add_stretch(uint64_t from_ns, const struct result *result, void *userdata)
{
	struct sum *sum = userdata;

	assert_true(from_ns == sum->next_ns);
	sum->next_ns += TEST_SIM_S / 10;
	sum->ios += result->iops / 10;
	sum->energy_j += result->energy_j;
}

/* Stretches come one after the other, and make up the whole. */
static void test_stretches(void **state)
{
	struct run_options options = { .seed = 1,
				       .warm_up_ns = 70000000,
				       .duration_ns = TEST_SIM_S };
	struct sum sum = { .next_ns = options.warm_up_ns };
	struct platform platform;
	struct workload workload;
	struct result whole;

	test_sim_platform(NOISY, &platform);
	test_sim_workload(&platform, "psyncx4", &workload);
	assert_int_equal(result_run(&platform, &workload, sim_governor_find("wakegov"), NULL,
				    &options, &whole),
			 0);
	assert_int_equal(result_run_stretches(&platform, &workload, sim_governor_find("wakegov"),
					      NULL, &options, TEST_SIM_S / 10, add_stretch, &sum),
			 0);
	assert_true(sum.next_ns == options.warm_up_ns + options.duration_ns);
	assert_true(is_near(sum.ios, whole.iops, 1e-9));
	assert_true(is_near(sum.energy_j, whole.energy_j, 1e-9));
}

/* κ · V² · f at the highest OPP for a thread that never sleeps. */
static void test_energy(void **state)
{
	struct platform platform;
	struct workload workload;
	struct result result;

	test_sim_platform(TEST_SIM_TINY, &platform);
	test_sim_workload(&platform, "busy:cycles=1000000", &workload);
	result = test_sim_run(&platform, &workload, "performance", 2 * TEST_SIM_S);
	assert_true(is_near(result.energy_j, 100e-12 * 1 * 1e9 * 2, 0.0001));
	assert_true(is_near(result.rounds_per_s, 1000, 0.001));
	result = test_sim_run(&platform, &workload, "powersave", 2 * TEST_SIM_S);
	assert_true(is_near(result.energy_j, 100e-12 * 0.64 * 0.5e9 * 2, 0.0001));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_psync_closed_form),
		cmocka_unit_test(test_work_per_cycle),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_channels_limit),
		cmocka_unit_test(test_conservation),
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_drift_rate),
		cmocka_unit_test(test_device_pauses),
		cmocka_unit_test(test_neighbour),
		cmocka_unit_test(test_io_max),
		cmocka_unit_test(test_io_max_slices),
		cmocka_unit_test(test_io_max_senders),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_stretches),
		cmocka_unit_test(test_energy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
