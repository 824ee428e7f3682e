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

static struct result run(const char *machine, const char *spec, const char *governor, int s)
{
	return test_sim_run_for(machine, spec, governor, NULL, 200000000, s * TEST_SIM_S);
}

/* IOPS = 1 / (L + C / f), whatever share of C is in interrupts or idle exits. */
TEST(test_psync_closed_form)
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

		snprintf(text, sizeof(text), "[platform]\n%s\n%s", cases[i].costs,
			 strchr(TEST_SIM_TINY, '\n') + strlen("\nio-cycles = 50000\n"));
		for (int fast = 0; fast < 2; fast++) {
			double f = fast ? 1e9 : 0.5e9;
			struct result result = run(text, "psync",
						   fast ? "performance" : "powersave", 5);

			assert_true(
				is_near(result.iops, 1 / (100e-6 + cases[i].cycles / f), 0.005));
		}
	}
}

/* Work takes as many more cycles on a CPU as it does less in each. */
TEST(test_work_per_cycle)
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
TEST(test_little)
{
	struct result result = run(TEST_SIM_TINY, "psync", "performance", 5);

	assert_true(is_near(result.devices[0].mean_latency_us, 100, 0.001));
	assert_true(is_near(result.devices[0].mean_depth, result.iops * 100e-6, 0.001));
	assert_true(
		is_near(result.devices[0].idle_percent, 100 - 100 * result.iops * 100e-6, 0.001));
	/* All of the idle time is this thread's host time, and it runs for 65 % of the 50 µs. */
	assert_true(is_near(result.host_percent, result.devices[0].idle_percent, 0.001));
	assert_true(is_near(result.running_percent, 65, 0.002));
	assert_true(is_near(result.off_queue_percent, 35, 0.002));
}

TEST(test_saturation)
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
TEST(test_channels_limit)
{
	struct result result = run(TEST_SIM_TINY, "io_uring1x64:cycles=1000", "performance", 2);

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

TEST(test_conservation)
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

TEST(test_seed)
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
TEST(test_pauses)
{
	struct result free, paused;

	free = run(TEST_SIM_TINY, "psync", "performance", 10);
	paused = run(TEST_SIM_TINY, "psync:flush-every=100ms,flush-for=20ms", "performance", 10);
	assert_true(is_near(paused.iops, 0.8 * free.iops, 0.005));
	paused = run(TEST_SIM_TINY, "psync:thermal-every=100ms,thermal-for=50ms", "performance",
		     10);
	assert_true(is_near(paused.mean_mhz, 750, 0.01));
}

/* κ · V² · f at the highest OPP for a thread that never sleeps. */
TEST(test_energy)
{
	const char *spec = "busy:cycles=1000000";
	struct result result = run(TEST_SIM_TINY, spec, "performance", 2);

	assert_true(is_near(result.energy_j, 100e-12 * 1 * 1e9 * 2, 0.0001));
	assert_true(is_near(result.rounds_per_s, 1000, 0.001));
	result = run(TEST_SIM_TINY, spec, "powersave", 2);
	assert_true(is_near(result.energy_j, 100e-12 * 0.64 * 0.5e9 * 2, 0.0001));
}
