// SPDX-License-Identifier: GPL-2.0-only
/* What governors do with the model; that wakegov's core is driven as the daemon drives it. */
#include "test-sim.h"

#include "config/keys.h"
#include "core/settings.h"

#define TWO_DOMAINS                                                        \
	"[platform]\nio-cycles = 60000\n"                                  \
	"[domain a]\ncpus = 0\nopp = 500MHz 800mV\nopp = 1GHz 1V\n"        \
	"capacitance = 100pF\n"                                            \
	"[domain b]\ncpus = 1\nopp = 500MHz 800mV\nopp = 1GHz 900mV\n"     \
	"opp = 2GHz 1V\ncapacitance = 100pF\ntransition-latency = 100us\n" \
	"[device disk]\nlatency = 60us\nservice = 40us\nchannels = 1\n"

struct world {
	struct platform platform;
	struct workload workload;
};

static struct result run(const char *spec, const char *governor)
{
	static struct world world;

	test_sim_platform(TWO_DOMAINS, &world.platform);
	test_sim_workload(&world.platform, spec, &world.workload);
	return test_sim_run(&world.platform, &world.workload, governor, 2 * TEST_SIM_S);
}

TEST(test_constant)
{
	struct result result = run("psyncx2", "performance");

	assert_int_equal(result.mhz[0], 1000);
	assert_int_equal(result.mhz[1], 2000);
	assert_int_equal(result.mean_mhz, 1500);
	assert_true(result.changes_per_s == 0);
	assert_true(result.lowest_opp_percent == 0);
	result = run("psyncx2", "powersave");
	assert_int_equal(result.mhz[0], 500);
	assert_int_equal(result.mhz[1], 500);
	assert_true(result.lowest_opp_percent > 99.99);
}

/*
 * A lone reader: its domain runs at its highest OPP, the other one stays where it was. Without the
 * boost 500 MHz suffice for it; where that is a close call, trying takes twice as long.
 */
TEST(test_wakegov_io)
{
	struct result result = run("psync:cpus=1,cycles=50000", "wakegov");

	/* But for the pairs in which it is tried. */
	assert_int_equal(result.mhz[0], 500);
	assert_in_range(result.mhz[1], 1960, 2000);
	assert_true(result.changes_per_s < 2);
	result = run("libaio1x1:cpus=1,cycles=50000", "wakegov");
	assert_in_range(result.mhz[1], 1960, 2000);
}

/* Load and idleness: up for what runs, and to the lowest OPP 20 ms after it. */
TEST(test_wakegov_load)
{
	struct result result = run("busy:cpus=1,cycles=1000000000", "wakegov");

	assert_int_equal(result.mhz[1], 2000);
	/* A tenth of the time at the highest OPP, too short for the utilisation to get high. */
	result = run("busy:cpus=1,cycles=200000,think=20ms", "wakegov");
	assert_true(result.mhz[1] < 600);
	/* Seconds of it are followed, and end. */
	result = run("busy:cpus=1,cycles=400000000,think=800ms", "wakegov");
	assert_true(result.mhz[1] > 700 && result.mhz[1] < 1300);
	assert_true(result.changes_per_s > 1 && result.changes_per_s < 20);
}

/* Too few I/Os for a boost: 200 per second. */
TEST(test_wakegov_slow_io)
{
	struct result result = run("psync:cpus=1,think=5ms", "wakegov");

	assert_true(result.iops > 150);
	assert_int_equal(result.mhz[1], 500);
}

/* Under another policy fewer are enough. */
TEST(test_wakegov_policy)
{
	struct run_options options = { .seed = 1, .duration_ns = 2 * TEST_SIM_S };
	struct policy policy;
	struct world world;
	struct result result;

	policy_init(&policy);
	policy.io_boost.min_rate_per_s = 50;
	options.policy = &policy;
	test_sim_platform(TWO_DOMAINS, &world.platform);
	test_sim_workload(&world.platform, "psync:cpus=1,think=1ms", &world.workload);
	assert_int_equal(result_run(&world.platform, &world.workload, &sim_governor_wakegov, NULL,
				    &options, &result),
			 0);
	assert_true(result.iops > 700 && result.iops < 1000);
	assert_true(result.mhz[1] > 1500);
}

/* The limit of a thermal pause is obeyed and left again. */
TEST(test_wakegov_limit)
{
	struct result result = run(
		"psync:cpus=1,thermal-every=100ms,thermal-for=50ms,thermal-limit=50%", "wakegov");

	assert_in_range(result.mhz[1], 1400, 1550);
}

/* 700 MHz take more voltage than 900: they are skipped where the platform says what OPPs take. */
#define UNEVEN                                                        \
	"[platform]\nio-cycles = 60000\n"                             \
	"[domain a]\ncpus = 0\nopp = 500MHz 800mV\nopp = 700MHz 1V\n" \
	"opp = 900MHz 850mV\nopp = 1GHz 1V\ncapacitance = %s\n"       \
	"[device disk]\nlatency = 60us\nservice = 40us\nchannels = 1\n"

static double mhz_on_uneven(const char *capacitance)
{
	char text[sizeof(UNEVEN) + 16];
	static struct world world;

	snprintf(text, sizeof(text), UNEVEN, capacitance);
	test_sim_platform(text, &world.platform);
	test_sim_workload(&world.platform, "busy:cycles=10500000,period=20ms", &world.workload);
	return test_sim_run(&world.platform, &world.workload, "wakegov", 2 * TEST_SIM_S).mean_mhz;
}

TEST(test_wakegov_energy)
{
	assert_int_equal(mhz_on_uneven("0pF"), 700);
	assert_int_equal(mhz_on_uneven("100pF"), 900);
}

/* A disk of 5000 I/Os a second beside CPUs that can do more. */
#define FULL_DISK                                                          \
	"[platform]\nio-cycles = 60000\n"                                  \
	"[domain a]\ncpus = 0-1\nopp = 500MHz 800mV\nopp = 1GHz 1V\n"      \
	"capacitance = 100pF\n"                                            \
	"[domain b]\ncpus = 2-3\nopp = 500MHz 800mV\nopp = 1GHz 900mV\n"   \
	"opp = 2GHz 1V\ncapacitance = 100pF\ntransition-latency = 100us\n" \
	"[device disk]\nlatency = 60us\nservice = 2us\nchannels = 8\n"     \
	"max-rate = 5000/s\n"

static struct result run_on_full_disk(const char *spec)
{
	return test_sim_run_for(FULL_DISK, spec, "wakegov", NULL, 10 * TEST_SIM_S, 5 * TEST_SIM_S);
}

/*
 * Readers in two domains, each of which gains by its boost what the other loses: none is boosted,
 * and they do as much. Where some gain also while all have their boost, they keep it.
 */
TEST(test_wakegov_rivals)
{
	static const char *const rivals[] = {
		"psyncx3:cycles=100000,cpus=0-1+psyncx3:cycles=200000,cpus=2-3",
		"psyncx2:cycles=300000,cpus=0-1+psyncx2:cycles=100000,cpus=2-3",
		"psyncx2:cycles=250000,cpus=0-1+psyncx2:cycles=250000,cpus=2-3",
	};
	struct result result;

	for (size_t i = 0; i < sizeof(rivals) / sizeof(*rivals); i++) {
		result = run_on_full_disk(rivals[i]);
		assert_in_range(result.iops, 4990, 5000);
		assert_in_range(result.mean_mhz, 500, 550);
	}
	/* Only one group finds that its boost pays, and the other one would lose a tenth. */
	result = run_on_full_disk("psyncx2:cycles=150000,cpus=0-1+psyncx2:cycles=150000,cpus=2-3");
	assert_in_range(result.threads[0].iops, 1240, 1260);
	assert_in_range(result.threads[2].iops, 1240, 1260);
	result = run_on_full_disk("psyncx2:cycles=450000,cpus=0-1+psyncx4:cycles=150000,cpus=2-3");
	assert_in_range(result.threads[0].iops, 710, 720); /* 625 without */
	assert_in_range(result.mhz[0], 980, 1000);
	assert_in_range(result.mhz[1], 1950, 2000);
}

/* Without a boost this load is too small; libaio never shows an I/O wait. */
TEST(test_boost_governors)
{
	assert_true(run("psync:cpus=1", "schedutil").mhz[1] > 1900);
	assert_true(run("psync:cpus=1", "schedutil-no-boost").mhz[1] < 1300);
	assert_true(run("libaio1x1:cpus=1", "schedutil").mhz[1] < 1300);
}

/* The device is the limit at any clock: the oracle stays at the bottom, in both domains. */
TEST(test_oracle)
{
	struct run_options options = { 1, 100000000, TEST_SIM_S };
	struct platform platform;
	struct workload workload;
	struct result result;

	test_sim_platform(TWO_DOMAINS, &platform);
	test_sim_workload(&platform, "io_uring2x64:cycles=2000", &workload);
	assert_int_equal(oracle_run(&platform, &workload, &options, &result), 0);
	assert_int_equal(result.mean_mhz, 500);
	assert_string_equal(result.governor, "best-fixed");
	/* Only the CPU that the reader runs on needs its clock. */
	test_sim_workload(&platform, "psync:cpus=1", &workload);
	assert_int_equal(oracle_run(&platform, &workload, &options, &result), 0);
	assert_int_equal(result.mhz[0], 500);
	assert_int_equal(result.mhz[1], 2000);
}
