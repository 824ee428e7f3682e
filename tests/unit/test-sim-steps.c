// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads of 10…90 % under three governors: with the formula that multiplies the present frequency,
 * with the one that is free of it, and under wakegov. The clock is held until utilisation has
 * settled, at the highest OPP or at the lowest, and then let go. Prints how often each governor
 * changes it on its way to where it stays, and how far off it gets.
 */
#include "sim/schedutil.h"
#include "sim/sim_private.h"
#include "test-sim.h"

#define MS	   1000000ULL
#define LOWEST_MHZ 400
#define HIGHEST	   16 /* as the number of an OPP */
#define HOLD_MS	   1000
#define WATCH_MS   1500
#define STEP_NS	   50000ULL

#define OPP(mhz)   "opp = " #mhz "MHz 1V\n"
#define PLATFORM                                                                                  \
	"[platform]\nio-cycles = 50000\n[domain cpu0]\ncpus = 0\ntransition-latency = 20us\n"     \
	"schedutil-rate-limit = 2ms\n" OPP(400) OPP(520) OPP(620) OPP(720) OPP(820) OPP(920) OPP( \
		1020) OPP(1120) OPP(1220) OPP(1320) OPP(1420) OPP(1520) OPP(1620) OPP(1720)       \
		OPP(1820) OPP(1920)                                                               \
			OPP(2000) "capacitance = 100pF\n"                                         \
				  "[device disk]\nlatency = 60us\nservice = 40us\nchannels = 1\n"

enum { RAW, INVARIANT, WAKEGOV, GOVERNORS };

static const char *const governors[GOVERNORS] = { "schedutil-raw", "schedutil-no-boost",
						  "wakegov" };

struct way {
	uint32_t changes; /* of the clock */
	uint32_t least_mhz;
	uint32_t most_mhz;
	uint32_t last_mhz;
	uint32_t ms; /* until the last change */
	uint32_t answer_mhz;
};

static uint32_t mhz_of(const struct sim *sim)
{
	return sim->domains[0].info->opps[sim->domains[0].opp].khz / 1000;
}

static struct way watch(struct sim *sim)
{
	uint64_t start_ns = sim->now_ns, changed_ns = start_ns;
	struct way way = { .least_mhz = UINT32_MAX, .last_mhz = mhz_of(sim) };

	while (sim->now_ns < start_ns + WATCH_MS * MS) {
		uint32_t mhz;

		sim_run(sim, sim->now_ns + STEP_NS);
		mhz = mhz_of(sim);
		if (mhz == way.last_mhz)
			continue;
		way.changes++;
		way.last_mhz = mhz;
		way.least_mhz = mhz < way.least_mhz ? mhz : way.least_mhz;
		way.most_mhz = mhz > way.most_mhz ? mhz : way.most_mhz;
		changed_ns = sim->now_ns;
	}
	way.ms = (changed_ns - start_ns) / MS;
	return way;
}

/* The lowest OPP with headroom: 1.25 · 2000 MHz · load. */
static uint32_t answer_mhz(const struct sim *sim, uint32_t percent)
{
	const struct platform_domain *info = sim->domains[0].info;

	return info->opps[platform_opp_at_or_above(info, percent * 25000)].khz / 1000;
}

static struct way let_go(uint32_t percent, const char *governor, bool from_highest)
{
	struct platform platform;
	struct workload workload;
	struct sim *sim;
	struct way way;
	char spec[64];

	test_sim_platform(PLATFORM, &platform);
	snprintf(spec, sizeof(spec), "busy:cycles=%u,period=1ms", percent * 20000);
	test_sim_workload(&platform, spec, &workload);
	assert_int_equal(sim_new(&platform, &workload, sim_governor_find(governor), NULL, 1, NULL,
				 NULL, &sim),
			 0);
	if (from_highest)
		sim_domain_set_floor(sim, 0, HIGHEST);
	else
		sim_domain_limit(sim, 0, 100 * LOWEST_MHZ / 2000);
	sim_run(sim, HOLD_MS * MS);
	if (from_highest)
		sim_domain_set_floor(sim, 0, 0);
	else
		sim_domain_limit(sim, 0, 100);
	way = watch(sim);
	way.answer_mhz = answer_mhz(sim, percent);
	sim_free(sim);
	return way;
}

static void print_way(const char *governor, const struct way *way)
{
	if (way->changes)
		print_message("  %-18s %3u changes, %4u…%4u MHz, stays at %4u from %4u ms on\n",
			      governor, way->changes, way->least_mhz, way->most_mhz, way->last_mhz,
			      way->ms);
	else
		print_message("  %-18s   0 changes, stays at %4u\n", governor, way->last_mhz);
}

static void compare(uint32_t percent, bool from_highest, struct way ways[static GOVERNORS])
{
	for (int governor = 0; governor < GOVERNORS; governor++)
		ways[governor] = let_go(percent, governors[governor], from_highest);
	print_message("%u %% from the %s OPP: %u MHz would do\n", percent,
		      from_highest ? "highest" : "lowest", ways[0].answer_mhz);
	for (int governor = 0; governor < GOVERNORS; governor++)
		print_way(governors[governor], &ways[governor]);
}

/*
 * All of them know the load; but the first takes what it was at another clock for what it is at
 * this one. Where the answer is the highest OPP there is nothing to change.
 */
static void test_from_highest(void **state)
{
	for (uint32_t percent = 10; percent < 100; percent += 10) {
		struct way ways[GOVERNORS];
		uint32_t changes;

		compare(percent, true, ways);
		changes = ways[WAKEGOV].answer_mhz < 2000;
		assert_int_equal(ways[WAKEGOV].changes, changes);
		assert_int_equal(ways[INVARIANT].changes, changes);
		assert_int_equal(ways[WAKEGOV].last_mhz, ways[WAKEGOV].answer_mhz);
		if (percent >= 20 && changes) {
			assert_true(ways[RAW].changes > 5);
			assert_true(ways[RAW].most_mhz > ways[RAW].answer_mhz);
		}
	}
}

/* A CPU without an idle moment shows no load of its own: the way to the answer leads upwards. */
static void test_from_lowest(void **state)
{
	for (uint32_t percent = 10; percent < 100; percent += 10) {
		struct way ways[GOVERNORS];

		compare(percent, false, ways);
		assert_int_equal(ways[WAKEGOV].last_mhz, ways[WAKEGOV].answer_mhz);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_from_highest),
		cmocka_unit_test(test_from_lowest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
