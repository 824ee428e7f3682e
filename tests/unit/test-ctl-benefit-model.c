// SPDX-License-Identifier: GPL-2.0-only
#include "fake-files.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/benefit.h"
#include "frequency/power.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define CPUFREQ "devices/system/cpu/cpufreq/"
#define MODEL	"kernel/debug/energy_model/"

/* Two kinds of CPUs, 0 and 1 up to 1800 MHz, 2 and 3 up to 1400 MHz, at 400 MHz for so long. */
static void write_states(double low0_s, double high0_s, double low2_s, double high2_s)
{
	fake_file(CPUFREQ "policy0/affected_cpus", "0 1");
	fake_file(CPUFREQ "policy2/affected_cpus", "2 3");
	fake_file(CPUFREQ "policy0/stats/time_in_state", "1800000 %.0f\n400000 %.0f", high0_s * 100,
		  low0_s * 100);
	fake_file(CPUFREQ "policy2/stats/time_in_state", "1400000 %.0f\n400000 %.0f", high2_s * 100,
		  low2_s * 100);
}

/* Idle in seconds; what the kernel has sampled as user time says otherwise. */
static void write_cpu(char *text, int cpu, double idle_s, double iowait_s)
{
	double hz = (double)sysconf(_SC_CLK_TCK);

	sprintf(text + strlen(text), "cpu%d 123456 0 0 %.0f %.0f 0 0 0 0 0\n", cpu, idle_s * hz,
		iowait_s * hz);
}

/* At so many seconds; of them CPUs 1 and 3 were busy for so long, and the others never. */
static void write_busy(double at_s, double cpu1_s, double cpu3_s)
{
	char text[512] = "cpu  1 2 3 4 5 6 7 8 9 10\n";

	write_cpu(text, 0, at_s, 0);
	write_cpu(text, 1, at_s - cpu1_s - 2, 2);
	write_cpu(text, 2, at_s, 0);
	write_cpu(text, 3, at_s - cpu3_s, 0);
	fake_file("stat", "%sintr 1 2 3", text);
}

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void check(double cpu1_s, double cpu3_s, double low_s, double high_s, double expected)
{
	struct model model;

	write_states(10, 20, 30, 40);
	write_busy(200, 100, 100);
	model_find(fake_root, fake_root, 200 * NS_PER_S, &model);
	assert_int_equal(model.n_domains, 2);
	assert_true(model.full_cpu_s == 0);
	write_states(10 + low_s, 20 + high_s, 30 + low_s, 40 + high_s);
	write_busy(210, 100 + cpu1_s, 100 + cpu3_s);
	model_read(&model, 210 * NS_PER_S);
	assert_true(is_near(model.full_cpu_s, expected));
	model_deinit(&model);
}

static void test_estimate(void **state)
{
	const double low0 = energy_power_share(400, 1800), low2 = energy_power_share(400, 1400);

	/* An idle second costs nothing, however high its frequency. */
	check(0, 0, 0, 10, 0);
	check(3, 0, 0, 10, 3);
	check(3, 0, 10, 0, 3 * low0);
	check(3, 0, 4, 6, 3 * (0.4 * low0 + 0.6));
	/* At its highest the smaller kind takes less than the other at its. */
	check(0, 3, 0, 10, 3 * 1400. / 1800);
	check(2, 3, 10, 0, 2 * low0 + 3 * low2 * 1400 / 1800);
	/* Offline for all of it. */
	check(0, 0, 0, 0, 0);
}

/* The OPPs of the rk3399's larger kind, as rk3399-opp.dtsi of the kernel has them. */
static void test_estimate_against_voltages(void **state)
{
	static const struct {
		double mhz, volts;
	} opps[] = { { 408, 0.8 },   { 600, 0.8 },    { 816, 0.825 }, { 1008, 0.875 },
		     { 1200, 0.95 }, { 1416, 1.025 }, { 1608, 1.1 },  { 1800, 1.2 } };

	for (size_t i = 0; i < ARRAY_SIZE(opps); i++) {
		double volts = sqrt(energy_power_share(opps[i].mhz, 1800) * 1800 / opps[i].mhz);

		assert_true(fabs(volts / (opps[i].volts / 1.2) - 1) < 0.14);
	}
}

static void write_power(const char *state, double power)
{
	char path[96];

	snprintf(path, sizeof(path), MODEL "%s/power", state);
	fake_file(path, "%.0f", power);
}

static void test_kernels_model(void **state)
{
	struct model model;

	write_power("cpu0/ps:400000", 100);
	write_power("cpu0/ps:1800000", 2000);
	write_power("cpu2/ps:400000", 50);
	/* One OPP of one domain is missing: the two kinds would not be of one scale. */
	write_states(0, 0, 0, 0);
	model_find(fake_root, fake_root, 200 * NS_PER_S, &model);
	assert_false(model.is_of_kernel);
	model_deinit(&model);
	write_power("cpu2/ps:1400000", 500);
	model_find(fake_root, fake_root, 200 * NS_PER_S, &model);
	assert_true(model.is_of_kernel);
	model_deinit(&model);

	check(3, 0, 0, 10, 3);
	check(3, 0, 10, 0, 3 * 100. / 2000);
	check(2, 3, 5, 5, 2 * 1050. / 2000 + 3 * 275. / 2000);
}

/* What ran between two ticks is in no idle time; a task that runs on is not yet in its turns. */
static void test_exact_turns(void **state)
{
	struct model model;

	write_states(10, 20, 30, 40);
	write_busy(200, 100, 100);
	fake_file("schedstat",
		  "version 17\ncpu1 0 0 0 0 0 0 7000000000 5 5\ncpu3 0 0 0 0 0 0 9000000000 "
		  "5 5");
	model_find(fake_root, fake_root, 200 * NS_PER_S, &model);
	write_states(10, 30, 30, 50);
	write_busy(210, 100, 104);
	fake_file("schedstat",
		  "version 17\ncpu1 0 0 0 0 0 0 7003000000 5 5\ncpu3 0 0 0 0 0 0 9000000000 "
		  "5 5");
	model_read(&model, 210 * NS_PER_S);
	assert_true(is_near(model.busy_s, 4.003));
	assert_true(is_near(model.full_cpu_s, 0.003 + 4 * 1400. / 1800));
	/* The turn has ended. */
	write_states(10, 40, 30, 60);
	write_busy(220, 100, 104);
	fake_file("schedstat",
		  "version 17\ncpu1 0 0 0 0 0 0 7003000000 5 5\ncpu3 0 0 0 0 0 0 13000000000 "
		  "5 5");
	model_read(&model, 220 * NS_PER_S);
	assert_true(is_near(model.busy_s, 4.003));
	model_deinit(&model);
}

static void test_no_states(void **state)
{
	struct model model;

	fake_file(CPUFREQ "policy0/affected_cpus", "0 1");
	model_find(fake_root, fake_root, 200 * NS_PER_S, &model);
	assert_int_equal(model.n_domains, 0);
	assert_false(model.is_of_kernel);
	model_read(&model, 210 * NS_PER_S);
	assert_true(model.full_cpu_s == 0);
	model_deinit(&model);
}

/* A CPU that leaves is not in the list any more, and was not busy. */
static void test_offline(void **state)
{
	struct model model;
	char text[512] = "";

	write_states(10, 20, 30, 40);
	write_busy(200, 100, 100);
	model_find(fake_root, fake_root, 200 * NS_PER_S, &model);
	write_states(10, 30, 30, 50);
	write_cpu(text, 0, 210, 0);
	write_cpu(text, 2, 210, 0);
	write_cpu(text, 3, 109, 0);
	fake_file("stat", "%s", text);
	model_read(&model, 210 * NS_PER_S);
	assert_true(is_near(model.full_cpu_s, 1400. / 1800));
	model_deinit(&model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_files_set_up, fake_files_tear_down)
		TEST(test_estimate),	  TEST(test_estimate_against_voltages),
		TEST(test_kernels_model), TEST(test_exact_turns),
		TEST(test_no_states),	  TEST(test_offline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
