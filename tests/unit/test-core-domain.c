// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "core/domain.h"

/* clang-format off */
#define NONE { POLICY_FREQUENCY_NONE, 0 }
#define KHZ(khz) { POLICY_FREQUENCY_KHZ, khz }
#define OVERRIDE(khz) { POLICY_FREQUENCY_KHZ, khz, 7 }
#define PERCENT(per) { POLICY_FREQUENCY_PERCENT, per }
/* clang-format on */

#define START_NS NS_PER_S
#define RATE_NS	 NS_PER_MS
#define HOLD_NS	 (20 * NS_PER_MS)

static const struct topology_domain info = {
	.name = "policy0",
	.n_opps = 9,
	.opp_khz = { 800000, 1000000, 1200000, 1400000, 1600000, 1800000, 2000000, 2200000,
		     2400000 },
	.capacity = 1024,
	.transition_latency_ns = 10 * NS_PER_US,
};

static struct domain usual(void)
{
	struct domain domain;

	domain_init(&domain, 0, &info);
	domain.active = true;
	domain.policy = (struct policy_domain){
		.headroom_percent = 125,
		.rate_limit_ns = RATE_NS,
		.down_hold_ns = HOLD_NS,
	};
	return domain;
}

static void decide(struct domain *domain, uint32_t cap, uint64_t now_ns)
{
	const struct demand demand = {
		.cap = cap,
		.reason = cap ? REASON_UTILISATION : REASON_IDLE,
		.cpu = 2,
		.idle_since_ns = UINT64_MAX,
	};

	domain_decide(domain, &demand, now_ns);
}

static void assert_decided(const struct domain *domain, uint32_t target_khz, enum timing timing)
{
	assert_int_equal(domain->last.target_khz, target_khz);
	assert_string_equal(timing_names[domain->last.timing], timing_names[timing]);
}

TEST(test_clamps)
{
	static const struct {
		uint32_t cap;
		struct policy_frequency min, max;
		uint32_t scaling_min_khz, scaling_max_khz;
		uint32_t target_khz;
		enum limiter limiter;
	} cases[] = {
		{ 512, NONE, NONE, 800000, 2400000, 1200000, LIMITER_NONE },
		{ 0, NONE, NONE, 800000, 2400000, 800000, LIMITER_NONE },
		/* more than there is, is not a limit that anybody set */
		{ 1280, NONE, NONE, 800000, 2400000, 2400000, LIMITER_NONE },
		{ 512, KHZ(1600000), NONE, 800000, 2400000, 1600000, LIMITER_POLICY_MIN },
		{ 512, KHZ(1500000), NONE, 800000, 2400000, 1600000, LIMITER_POLICY_MIN },
		{ 512, KHZ(1000000), NONE, 800000, 2400000, 1200000, LIMITER_NONE },
		{ 1024, NONE, KHZ(1600000), 800000, 2400000, 1600000, LIMITER_POLICY_MAX },
		{ 1024, NONE, KHZ(1700000), 800000, 2400000, 1600000, LIMITER_POLICY_MAX },
		{ 1024, NONE, PERCENT(50), 800000, 2400000, 1200000, LIMITER_POLICY_MAX },
		{ 0, PERCENT(50), NONE, 800000, 2400000, 1200000, LIMITER_POLICY_MIN },
		{ 0, NONE, NONE, 1400000, 2400000, 1400000, LIMITER_SCALING_MIN },
		{ 1024, NONE, NONE, 800000, 1400000, 1400000, LIMITER_SCALING_MAX },
		/* the kernel's limits come after the policy's */
		{ 0, KHZ(1000000), NONE, 1400000, 2400000, 1400000, LIMITER_SCALING_MIN },
		{ 1024, NONE, KHZ(2000000), 800000, 1400000, 1400000, LIMITER_SCALING_MAX },
		{ 1024, KHZ(2000000), NONE, 800000, 1400000, 1400000, LIMITER_SCALING_MAX },
		{ 0, NONE, KHZ(1000000), 1400000, 2400000, 1400000, LIMITER_SCALING_MIN },
		/* a minimum above the maximum gives way to it */
		{ 0, KHZ(2000000), KHZ(1200000), 800000, 2400000, 1200000, LIMITER_POLICY_MAX },
		/* limits below every OPP, or between two: the nearest that is allowed or least */
		{ 1024, NONE, KHZ(500000), 800000, 2400000, 800000, LIMITER_POLICY_MAX },
		{ 1024, NONE, NONE, 800000, 2300000, 2200000, LIMITER_SCALING_MAX },
		{ 512, NONE, NONE, 1450000, 1550000, 1400000, LIMITER_SCALING_MIN },
		{ 1024, NONE, KHZ(9999999), 800000, 2400000, 2400000, LIMITER_NONE },
		/* an override's minimum wins over the policy's maximum */
		{ 0, OVERRIDE(1600000), KHZ(1000000), 800000, 2400000, 1600000,
		  LIMITER_POLICY_MIN },
		{ 1024, OVERRIDE(1600000), KHZ(1000000), 800000, 2400000, 1600000,
		  LIMITER_POLICY_MAX },
		{ 1024, KHZ(2000000), OVERRIDE(1200000), 800000, 2400000, 1200000,
		  LIMITER_POLICY_MAX },
		{ 1024, OVERRIDE(2000000), OVERRIDE(1200000), 800000, 2400000, 1200000,
		  LIMITER_POLICY_MAX },
		{ 0, OVERRIDE(2000000), NONE, 800000, 1400000, 1400000, LIMITER_SCALING_MAX },
		/* frozen */
		{ 0, KHZ(1600000), KHZ(1600000), 800000, 2400000, 1600000, LIMITER_POLICY_MIN },
		{ 660, KHZ(1600000), KHZ(1600000), 800000, 2400000, 1600000, LIMITER_POLICY_MIN },
		{ 1024, KHZ(1600000), KHZ(1600000), 800000, 2400000, 1600000, LIMITER_POLICY_MAX },
		{ 1024, KHZ(1600000), KHZ(1600000), 800000, 1000000, 1000000, LIMITER_SCALING_MAX },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct domain domain = usual();

		domain.policy.min = cases[i].min;
		domain.policy.max = cases[i].max;
		domain.scaling_min_khz = cases[i].scaling_min_khz;
		domain.scaling_max_khz = cases[i].scaling_max_khz;
		decide(&domain, cases[i].cap, START_NS);
		if (domain.last.target_khz != cases[i].target_khz ||
		    domain.last.limiter != cases[i].limiter)
			print_message("case %zu\n", i);
		assert_decided(&domain, cases[i].target_khz, TIMING_NOW);
		assert_string_equal(limiter_names[domain.last.limiter],
				    limiter_names[cases[i].limiter]);
	}
}

TEST(test_rate_limit_floor)
{
	static const struct {
		uint64_t policy_ns, latency_ns, rate_ns;
	} cases[] = {
		{ 0, 0, NS_PER_MS },
		{ 0, 10 * NS_PER_US, NS_PER_MS },
		{ 0, 3 * NS_PER_MS, 6 * NS_PER_MS },
		{ 5 * NS_PER_MS, 10 * NS_PER_US, 5 * NS_PER_MS },
		{ 5 * NS_PER_MS, 10 * NS_PER_MS, 20 * NS_PER_MS },
		{ 1, 10 * NS_PER_US, 20 * NS_PER_US },
		{ 20 * NS_PER_US, 10 * NS_PER_US, 20 * NS_PER_US },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct topology_domain slow = info;
		struct domain domain = usual();

		slow.transition_latency_ns = cases[i].latency_ns;
		domain.info = slow;
		domain.policy.rate_limit_ns = cases[i].policy_ns;
		assert_int_equal(domain_rate_limit_ns(&domain), cases[i].rate_ns);
	}
}

/* The first decision has nothing to wait for, down or up, also at the clock's beginning. */
TEST(test_first)
{
	static const uint64_t times_ns[] = { 1, START_NS, UINT64_MAX / 2 };

	for (size_t i = 0; i < sizeof(times_ns) / sizeof(times_ns[0]); i++) {
		struct domain domain = usual();

		assert_int_equal(domain.last.target_khz, 0);
		decide(&domain, 0, times_ns[i]);
		assert_decided(&domain, 800000, TIMING_NOW);
		assert_int_equal(domain.last.previous_khz, 0);
		assert_int_equal(domain.changed_ns, times_ns[i]);
		assert_int_equal(domain.next_ns, UINT64_MAX);
	}
}

TEST(test_up_is_urgent)
{
	struct domain domain = usual();
	uint64_t now_ns = START_NS;

	decide(&domain, 0, now_ns);
	/* Within the rate limit it waits, and says until when. */
	decide(&domain, 1024, now_ns + RATE_NS - 1);
	assert_decided(&domain, 800000, TIMING_RATE_LIMITED);
	assert_int_equal(domain.last.wanted_khz, 2400000);
	assert_int_equal(domain.next_ns, now_ns + RATE_NS);

	now_ns += RATE_NS;
	decide(&domain, 1024, now_ns);
	assert_decided(&domain, 2400000, TIMING_NOW);
	assert_int_equal(domain.last.previous_khz, 800000);
	assert_int_equal(domain.next_ns, UINT64_MAX);
	assert_int_equal(domain.changed_ns, now_ns);

	/* No change is not limited by anything, and is not a change. */
	decide(&domain, 1024, now_ns + 1);
	assert_decided(&domain, 2400000, TIMING_NOW);
	assert_int_equal(domain.changed_ns, now_ns);
}

TEST(test_down_waits)
{
	struct domain domain = usual();
	uint64_t now_ns = START_NS, lower_ns;

	decide(&domain, 1024, now_ns);
	lower_ns = now_ns + 5 * NS_PER_MS;
	decide(&domain, 512, lower_ns);
	assert_decided(&domain, 2400000, TIMING_HELD);
	assert_int_equal(domain.next_ns, lower_ns + HOLD_NS);
	/* Another, still lower, want does not start the hold again. */
	decide(&domain, 100, lower_ns + HOLD_NS / 2);
	assert_decided(&domain, 2400000, TIMING_HELD);
	assert_int_equal(domain.next_ns, lower_ns + HOLD_NS);
	decide(&domain, 256, lower_ns + HOLD_NS - 1);
	assert_decided(&domain, 2400000, TIMING_HELD);
	decide(&domain, 512, lower_ns + HOLD_NS);
	assert_decided(&domain, 1200000, TIMING_NOW);
	assert_int_equal(domain.next_ns, UINT64_MAX);

	/* The next fall has a hold of its own. */
	decide(&domain, 256, lower_ns + HOLD_NS + 5 * NS_PER_MS);
	assert_decided(&domain, 1200000, TIMING_HELD);
}

TEST(test_rise_cancels_hold)
{
	struct domain domain = usual();
	uint64_t now_ns = START_NS;

	decide(&domain, 1024, now_ns);
	decide(&domain, 512, now_ns + 5 * NS_PER_MS);
	decide(&domain, 1024, now_ns + 10 * NS_PER_MS);
	assert_decided(&domain, 2400000, TIMING_NOW);
	assert_int_equal(domain.next_ns, UINT64_MAX);
	decide(&domain, 512, now_ns + 24 * NS_PER_MS);
	assert_decided(&domain, 2400000, TIMING_HELD);
	decide(&domain, 512, now_ns + 26 * NS_PER_MS);
	assert_decided(&domain, 2400000, TIMING_HELD);
	decide(&domain, 512, now_ns + 44 * NS_PER_MS);
	assert_decided(&domain, 1200000, TIMING_NOW);
}

/* Idle was held for as long already, by the merge. */
TEST(test_idle_does_not_wait_twice)
{
	struct domain domain = usual();

	decide(&domain, 1024, START_NS);
	decide(&domain, 0, START_NS + RATE_NS);
	assert_decided(&domain, 800000, TIMING_NOW);
	assert_string_equal(reason_names[domain.last.reason], "idle");

	decide(&domain, 1024, START_NS + 2 * RATE_NS);
	decide(&domain, 0, START_NS + 2 * RATE_NS + 1);
	assert_decided(&domain, 2400000, TIMING_RATE_LIMITED);
	assert_int_equal(domain.next_ns, START_NS + 3 * RATE_NS);
}

/* A limit that forbids the target does not wait for the hold, only for the rate limit. */
TEST(test_lowered_limit_is_obeyed)
{
	struct domain domain = usual();

	decide(&domain, 1024, START_NS);
	domain.scaling_max_khz = 1400000;
	decide(&domain, 1024, START_NS + RATE_NS - 1);
	assert_decided(&domain, 2400000, TIMING_RATE_LIMITED);
	assert_int_equal(domain.next_ns, START_NS + RATE_NS);
	decide(&domain, 1024, START_NS + RATE_NS);
	assert_decided(&domain, 1400000, TIMING_NOW);

	domain.policy.max = (struct policy_frequency)KHZ(1000000);
	decide(&domain, 1024, START_NS + 2 * RATE_NS);
	assert_decided(&domain, 1000000, TIMING_NOW);

	/* A raised minimum is a rise. */
	domain.policy.max = (struct policy_frequency)NONE;
	domain.scaling_max_khz = 2400000;
	domain.scaling_min_khz = 2000000;
	decide(&domain, 0, START_NS + 3 * RATE_NS);
	assert_decided(&domain, 2000000, TIMING_NOW);
	assert_string_equal(limiter_names[domain.last.limiter], "scaling-min");
}

TEST(test_decision_names_winner)
{
	struct demand demand = {
		.cap = 1000,
		.uncapped_cap = 1024,
		.reason = REASON_IO_BOOST,
		.cpu = 3,
		.pid = 4711,
		.comm = "reader\0padding.",
		.idle_since_ns = UINT64_MAX,
	};
	struct domain domain;

	domain_init(&domain, 5, &info);
	domain_decide(&domain, &demand, START_NS);
	assert_int_equal(domain.last.domain, 5);
	assert_int_equal(domain.last.now_ns, START_NS);
	assert_int_equal(domain.last.want_cap, 1024);
	assert_int_equal(domain.last.cpu, 3);
	assert_int_equal(domain.last.pid, 4711);
	assert_string_equal(domain.last.comm, "reader");
	assert_int_equal(domain.last.reason, REASON_IO_BOOST);

	decide(&domain, 0, START_NS + NS_PER_S);
	assert_int_equal(domain.last.pid, 0);
	assert_string_equal(domain.last.comm, "");
}
