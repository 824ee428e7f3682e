// SPDX-License-Identifier: GPL-2.0-only
/* Caps and floors at work in a domain: which wins, when it begins and when it ends. */
#include "test-core.h"

#include "config/keys.h"
#include "core/engine.h"
#include "wakegov/decay.h"

#define START_NS  (1000 * NS_PER_S)
#define HOLD_NS	  (20 * NS_PER_MS)
#define LOW_KHZ	  800000
#define HIGH_KHZ  2400000
#define CAP_30	  0x1 /* bits of the rules below */
#define CAP_60	  0x2
#define FLOOR_50  0x4
#define CAP_KHZ	  0x8 /* 1 GHz, in the second domain only */
#define NO_CLAMP  0x0
#define KHZ_OF_30 800000 /* the OPPs at or above 720, 1440 and 1200 MHz */
#define KHZ_OF_60 1600000
#define KHZ_OF_50 1200000

static struct machine {
	struct topology *topology;
	struct policy policy;
	struct engine *engine;
	uint64_t now_ns;
} machine;

static struct policy policy_with_rules(void)
{
	struct policy policy;

	policy_init(&policy);
	policy.n_rules = 4;
	for (uint32_t i = 0; i < policy.n_rules; i++)
		policy.rules[i].domain_cpu = POLICY_ANY_DOMAIN;
	policy.rules[0].properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 30 };
	policy.rules[1].properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 60 };
	policy.rules[2].properties.floor = (struct policy_level){ POLICY_LEVEL_PERCENT, 50 };
	policy.rules[3].properties.cap = (struct policy_level){ POLICY_LEVEL_KHZ, 1000000 };
	policy.rules[3].domain_cpu = 2;
	return policy;
}

/* Two domains of two CPUs. */
static int set_up(void **state)
{
	machine.topology = test_topology_usual(2, 2);
	machine.policy = policy_with_rules();
	machine.engine = engine_new(machine.topology, &machine.policy);
	assert_non_null(machine.engine);
	machine.now_ns = START_NS;
	for (uint32_t i = 0; i < 2; i++) {
		const struct input input = {
			.now_ns = START_NS,
			.type = INPUT_DOMAIN,
			.domain = { .domain = i, .active = true, .driven = true },
		};

		engine_apply(machine.engine, &input);
	}
	return 0;
}

static int tear_down(void **state)
{
	engine_free(machine.engine);
	free(machine.topology);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void busy(uint32_t cpu, uint32_t util_cap)
{
	const struct input input = {
		.now_ns = machine.now_ns,
		.type = INPUT_CPU,
		/* of a task that does what it always does */
		.cpu = { .cpu = cpu,
			 .util_q = DECAY_Q(util_cap),
			 .est_q = DECAY_Q(util_cap),
			 .running = true },
	};

	engine_apply(machine.engine, &input);
}

/* A task of these rules runs on the CPU now. */
static void runs(uint32_t cpu, uint32_t pid, uint64_t matched, bool counts)
{
	struct input input = {
		.now_ns = machine.now_ns,
		.type = INPUT_CLASS_RUN,
		.class_run = {
			.cpu = cpu,
			.matched = matched,
			.ran_ns = machine.now_ns,
			.ran_pid = pid,
		},
	};

	/* Of set 0 those that count are all that the kernel side keeps. */
	if (!matched && !counts)
		return;
	if (counts) {
		input.class_run.long_running_ns = machine.now_ns;
		input.class_run.long_running_pid = pid;
	}
	engine_apply(machine.engine, &input);
}

static const struct decision *decide_at(uint32_t domain, uint64_t now_ns)
{
	machine.now_ns = now_ns;
	engine_decide(machine.engine, domain, now_ns);
	engine_commit(machine.engine, domain, ENGINE_SET);
	return engine_last(machine.engine, domain);
}

static const struct decision *decide(uint32_t domain)
{
	return decide_at(domain, machine.now_ns + 2 * NS_PER_MS);
}

FIXTURE_TEST(test_cap_holds)
{
	const struct decision *decision;

	busy(0, 1024);
	runs(0, 7, CAP_30, true);
	decision = decide(0);
	assert_int_equal(decision->target_khz, KHZ_OF_30);
	assert_int_equal(decision->want_cap, 1280);
	assert_string_equal(limiter_names[decision->limiter], "cap");
	assert_int_equal(decision->capped_pid, 7);
	assert_int_equal(decision->rule, 1);
	/* The other domain has nothing to do with it. */
	busy(2, 1024);
	assert_int_equal(decide(1)->target_khz, HIGH_KHZ);
}

/* Each row: who runs on CPUs 0 and 1, both of them busy, and what the domain is to run at. */
FIXTURE_TEST(test_who_counts)
{
	static const struct {
		uint64_t matched[2];
		bool counts[2];
		uint32_t khz;
	} rows[] = {
		{ { CAP_30, CAP_30 }, { true, true }, KHZ_OF_30 },
		{ { CAP_30, NO_CLAMP }, { true, false }, KHZ_OF_30 },
		{ { CAP_30, NO_CLAMP }, { true, true }, HIGH_KHZ },
		{ { CAP_30, CAP_60 }, { true, true }, KHZ_OF_60 },
		{ { CAP_30, CAP_60 }, { true, false }, KHZ_OF_30 },
		{ { CAP_30, CAP_60 }, { false, false }, KHZ_OF_60 },
		{ { CAP_30, NO_CLAMP }, { false, false }, KHZ_OF_30 },
		{ { CAP_30 | CAP_60, NO_CLAMP }, { true, false }, KHZ_OF_30 },
		{ { CAP_60 | CAP_30, CAP_60 }, { true, false }, KHZ_OF_30 },
		{ { CAP_30, FLOOR_50 }, { true, false }, KHZ_OF_50 },
		{ { CAP_30 | FLOOR_50, NO_CLAMP }, { true, false }, KHZ_OF_30 },
		{ { CAP_KHZ, NO_CLAMP }, { true, false }, HIGH_KHZ },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* In either order, and on either CPU. */
		for (uint32_t first = 0; first < 2; first++) {
			RENEW();
			for (uint32_t j = 0; j < 2; j++) {
				uint32_t task = first ^ j;

				busy(j, 1024);
				runs(j, 7 + task, rows[i].matched[task], rows[i].counts[task]);
			}
			assert_int_equal(decide(0)->target_khz, rows[i].khz);
		}
	}
}

/* A frequency is one of the domain that the rule is for. */
FIXTURE_TEST(test_for_domain)
{
	busy(2, 1024);
	runs(2, 7, CAP_KHZ, true);
	assert_int_equal(decide(1)->target_khz, 1000000);
}

/* An uncapped task that counts gets all at once, though little of it was seen; then the cap
 * returns. */
FIXTURE_TEST(test_uncap)
{
	const struct decision *decision;
	struct engine_band band;
	uint64_t end_ns;

	busy(0, 300);
	runs(0, 7, CAP_30, true);
	assert_int_equal(decide(0)->target_khz, KHZ_OF_30);
	engine_band(machine.engine, 1, &band);
	assert_true(band.watch_long_running & 1);
	assert_true(band.high_q == UINT32_MAX);

	busy(1, 20);
	runs(1, 8, NO_CLAMP, true);
	decision = decide(0);
	assert_int_equal(decision->target_khz, HIGH_KHZ);
	assert_string_equal(reason_names[decision->reason], "uncapped");
	assert_int_equal(decision->pid, 8);
	engine_band(machine.engine, 1, &band);
	assert_false(band.watch_long_running & 1);

	/* It has ended; the capped one runs on. */
	end_ns = machine.now_ns - 2 * NS_PER_MS + HOLD_NS;
	while (machine.now_ns + 4 * NS_PER_MS < end_ns) {
		machine.now_ns += 4 * NS_PER_MS;
		busy(0, 600);
		runs(0, 7, CAP_30, true);
		assert_int_equal(decide_at(0, machine.now_ns)->target_khz, HIGH_KHZ);
	}
	assert_int_equal(engine_next_ns(machine.engine), 0); /* the other domain's first decision */
	decide_at(1, machine.now_ns);
	assert_int_equal(engine_next_ns(machine.engine), end_ns);
	assert_int_equal(decide_at(0, end_ns)->target_khz, KHZ_OF_30);
}

/* Also where the CPUs ask for more than that: it is the one task that the cap gives way to. */
FIXTURE_TEST(test_uncapper_is_named)
{
	const struct decision *decision;

	busy(0, 1024);
	runs(0, 7, CAP_30, true);
	runs(1, 8, NO_CLAMP, true);
	decision = decide(0);
	assert_int_equal(decision->target_khz, HIGH_KHZ);
	assert_string_equal(reason_names[decision->reason], "utilisation");
	assert_int_equal(decision->pid, 8);
	/* Nobody is, where the cap asks for no less than what is used. */
	RENEW();
	busy(0, 100);
	runs(0, 7, CAP_30, true);
	decision = decide(0);
	assert_int_equal(decision->pid, 0);
}

/*
 * What was raised is not raised for good: utilisation says what is needed. It lasts two half-lives
 * of that, to the nanosecond, and is decided again then.
 */
FIXTURE_TEST(test_uncap_lasts)
{
	const struct decision *decision;
	uint64_t end_ns;

	busy(0, 300);
	runs(0, 7, CAP_30, true);
	decide(0);
	decide(1);
	runs(0, 8, NO_CLAMP, true);
	end_ns = decide(0)->now_ns + 65536000;
	assert_string_equal(reason_names[engine_last(machine.engine, 0)->reason], "uncapped");
	for (; machine.now_ns < end_ns; machine.now_ns += 4 * NS_PER_MS) {
		busy(0, 300);
		runs(0, 7, CAP_30, true);
		runs(0, 8, NO_CLAMP, true);
		decide_at(0, machine.now_ns);
	}
	assert_int_equal(engine_next_ns(machine.engine), end_ns);
	decision = decide_at(0, end_ns - 1);
	assert_int_equal(decision->target_khz, HIGH_KHZ);
	assert_string_equal(reason_names[decision->reason], "uncapped");
	decision = decide_at(0, end_ns);
	assert_int_equal(decision->wanted_khz, 1000000);
	assert_string_equal(reason_names[decision->reason], "utilisation");
}

/* Capped tasks that have stopped bound nobody. */
FIXTURE_TEST(test_cap_ends)
{
	busy(0, 1024);
	runs(0, 7, CAP_30, true);
	assert_int_equal(decide(0)->target_khz, KHZ_OF_30);
	decide(1);
	assert_in_range(engine_next_ns(machine.engine), machine.now_ns + 1,
			machine.now_ns + NS_PER_S / 10);
	busy(0, 1024);
	assert_int_equal(decide_at(0, START_NS + HOLD_NS - 1)->target_khz, KHZ_OF_30);
	assert_int_equal(decide_at(0, START_NS + HOLD_NS)->target_khz, HIGH_KHZ);
	/* One that begins again where the clock is high is to be told about. */
	struct engine_band band;

	engine_band(machine.engine, 0, &band);
	assert_int_equal(band.watch_ran, 1 << 1);
}

/* What a floor asks for is not capped, and does not say so. */
FIXTURE_TEST(test_floor_beside_cap)
{
	const struct decision *decision;

	busy(0, 1024);
	runs(0, 7, CAP_30, true);
	runs(1, 9, FLOOR_50, false);
	decision = decide(0);
	assert_int_equal(decision->target_khz, KHZ_OF_50);
	assert_string_equal(reason_names[decision->reason], "floor");
	assert_string_equal(limiter_names[decision->limiter], "none");
	assert_int_equal(decision->pid, 9);
	assert_int_equal(decision->rule, 3);
	assert_int_equal(decision->capped_pid, 0);
	/* Demand that is just the cap is not cut: 1.25 · 245.6. */
	RENEW();
	busy(0, 245);
	runs(0, 7, CAP_30, true);
	decision = decide(0);
	assert_int_equal(decision->want_cap, 307);
	assert_int_equal(decision->capped_pid, 0);
}

/* No hold time is shorter than a tick, within which a task that runs is seen. */
FIXTURE_TEST(test_short_hold)
{
	machine.policy.domain.down_hold_ns = NS_PER_MS;
	engine_set_policy(machine.engine, &machine.policy, machine.now_ns);
	busy(0, 1024);
	runs(0, 7, CAP_30, true);
	assert_int_equal(decide(0)->target_khz, KHZ_OF_30);
	busy(0, 1024);
	assert_int_equal(decide_at(0, START_NS + 12 * NS_PER_MS - 1)->target_khz, KHZ_OF_30);
	assert_int_equal(decide_at(0, START_NS + 12 * NS_PER_MS)->target_khz, HIGH_KHZ);
}

/* A task that matches after the domain was decided for is waited for as well. */
FIXTURE_TEST(test_new_set_is_awaited)
{
	struct engine_band band;
	struct input input = {
		.type = INPUT_TASK_RULES,
		.task_rules = { .pid = 7, .tgid = 7, .comm = "seven", .matched = CAP_30 },
	};

	busy(0, 1024);
	assert_int_equal(decide(0)->target_khz, HIGH_KHZ);
	decide(1);
	assert_false(engine_is_due(machine.engine, 0, machine.now_ns));
	input.now_ns = machine.now_ns;
	engine_apply(machine.engine, &input);
	assert_true(engine_is_due(machine.engine, 0, machine.now_ns));
	decide(0);
	engine_band(machine.engine, 0, &band);
	assert_int_equal(band.watch_ran, 1 << 1);
	/* Another of the same rules is no news. */
	decide(1);
	input.now_ns = machine.now_ns;
	input.task_rules.pid = 8;
	engine_apply(machine.engine, &input);
	assert_false(engine_is_due(machine.engine, 0, machine.now_ns));
}

FIXTURE_TEST(test_floor_holds)
{
	const struct decision *decision;
	struct engine_band band;

	machine.policy.rules[2].properties.floor.value = 90;
	engine_set_policy(machine.engine, &machine.policy, machine.now_ns);
	busy(0, 10);
	decide(0);
	decide(1);
	runs(0, 9, FLOOR_50, false);
	decision = decide(0);
	assert_int_equal(decision->target_khz, 2200000);
	assert_string_equal(reason_names[decision->reason], "floor");
	assert_int_equal(decision->pid, 9);
	assert_int_equal(decision->rule, 3);
	assert_int_equal(engine_next_ns(machine.engine), machine.now_ns - 2 * NS_PER_MS + HOLD_NS);
	/* It has its floor: there is nothing to wait for. */
	engine_band(machine.engine, 0, &band);
	assert_int_equal(band.watch_ran, 0);
	decide_at(0, engine_next_ns(machine.engine));
	decide_at(0, machine.now_ns + HOLD_NS);
	assert_int_equal(engine_last(machine.engine, 0)->target_khz, LOW_KHZ);
	engine_band(machine.engine, 1, &band);
	assert_int_equal(band.watch_ran, 1 << 1);
}

/*
 * Bursts of 480 us at full capacity that may take a millisecond: 524 of 1024, and the OPP above
 * that. It waits for the next one, longer than a floor does.
 */
FIXTURE_TEST(test_response_holds)
{
	const struct decision *decision;
	uint64_t ran_ns;

	machine.policy.rules[2].properties.floor = (struct policy_level){ POLICY_LEVEL_RESPONSE,
									  1000 };
	engine_set_policy(machine.engine, &machine.policy, machine.now_ns);
	busy(0, 10);
	runs(0, 9, FLOOR_50, false);
	assert_int_equal(decide(0)->target_khz, LOW_KHZ);
	engine_apply(machine.engine, &(struct input){
					     .now_ns = machine.now_ns,
					     .type = INPUT_BURSTS,
					     .bursts = { .matched = FLOOR_50, .length_ns = 480000 },
				     });
	decision = decide(0);
	assert_int_equal(decision->target_khz, 1400000);
	assert_string_equal(reason_names[decision->reason], "floor");
	assert_int_equal(decision->rule, 3);
	runs(0, 9, FLOOR_50, false);
	ran_ns = machine.now_ns;
	decision = decide_at(0, ran_ns + 100 * NS_PER_MS - 1);
	assert_string_equal(reason_names[decision->reason], "floor");
	decision = decide_at(0, ran_ns + 100 * NS_PER_MS);
	assert_string_equal(reason_names[decision->reason], "utilisation");
	decide_at(0, machine.now_ns + HOLD_NS);
	assert_int_equal(engine_last(machine.engine, 0)->target_khz, LOW_KHZ);
}

/* A new policy is in force at once, for sets that are known as well. */
FIXTURE_TEST(test_new_policy)
{
	busy(0, 1024);
	runs(0, 7, CAP_30, true);
	assert_int_equal(decide(0)->target_khz, KHZ_OF_30);
	machine.policy.rules[0].properties.cap.value = 60;
	engine_set_policy(machine.engine, &machine.policy, machine.now_ns);
	busy(0, 1024);
	runs(0, 7, CAP_30, true);
	assert_int_equal(decide(0)->target_khz, KHZ_OF_60);
	machine.policy.n_rules = 0;
	engine_set_policy(machine.engine, &machine.policy, machine.now_ns);
	runs(0, 7, CAP_30, true);
	assert_int_equal(decide(0)->target_khz, HIGH_KHZ);
}
