// SPDX-License-Identifier: GPL-2.0-only
/* Another policy for what a simulated machine did: nothing where it is the same, and what it says.
 */
#include "test-record-sim.h"

#include "config/keys.h"
#include "record/record.h"

static struct test_recording recording;
static const char *rk3399_path;

/* The policy asked about, and the answer, which borrows the reader's topology. */
static struct policy policy;
static struct record_reader *reader;
static struct what_if what_if;

static int set_up(void **state)
{
	policy_init(&policy);
	return 0;
}

static int tear_down(void **state)
{
	what_if_deinit(&what_if);
	if (reader)
		test_reader_free(reader);
	reader = NULL;
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void run(void)
{
	tear_down(NULL);
	reader = test_reader_new(&recording);
	assert_int_equal(record_reader_begin(reader), 0);
	assert_int_equal(what_if_run(reader, &policy, &what_if), 0);
}

FIXTURE_TEST(test_same_policy)
{
	static const char *const specs[] = { "psyncx1", "psyncx12", "io_uring6x128", "busyx3",
					     "psyncx2:think=200us" };

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		test_record_sim(&recording, rk3399_path, specs[i]);
		run();
		assert_int_equal(what_if.n_differences, 0);
		assert_int_equal(what_if.n_other, what_if.n_recorded);
		assert_true(what_if.n_recorded > 0);
		for (uint32_t d = 0; d < what_if.n_domains; d++)
			assert_memory_equal(&what_if.recorded[d], &what_if.other[d],
					    sizeof(what_if.other[d]));
	}
}

/* 408 … 1416 MHz: a third of the time at one OPP and two thirds at another would show here. */
FIXTURE_TEST(test_lower_limit)
{
	test_record_sim(&recording, rk3399_path, "psyncx12");
	policy.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1000000 };
	run();
	assert_true(what_if.n_differences > 0);
	assert_int_equal(what_if.differences[0].recorded.reason, REASON_IO_BOOST);
	assert_int_equal(what_if.differences[0].recorded.domain,
			 what_if.differences[0].other.domain);
	for (uint32_t d = 0; d < what_if.n_domains; d++) {
		assert_true(opp_times_mean_khz(&what_if.recorded[d]) > 1000000);
		assert_in_range(opp_times_mean_khz(&what_if.other[d]), 408000, 1000000);
		/* The same time in all, but for the moment before the first decision of either. */
		assert_in_range(opp_times_total_ns(&what_if.other[d]),
				opp_times_total_ns(&what_if.recorded[d]) - NS_PER_S / 50,
				reader->end_ns - reader->begin_ns);
	}
}

/* Windows and holds at whose ends no sample was taken: boosts do not flicker. */
FIXTURE_TEST(test_other_times)
{
	test_record_sim(&recording, rk3399_path, "psyncx12");
	policy.io_boost.window_ns = 20 * NS_PER_MS;
	policy.io_boost.hold_ns = 4 * NS_PER_MS;
	run();
	for (uint32_t d = 0; d < what_if.n_domains; d++) {
		uint32_t recorded_khz = opp_times_mean_khz(&what_if.recorded[d]);

		assert_true(what_if.other[d].changes < 60);
		assert_in_range(opp_times_mean_khz(&what_if.other[d]), recorded_khz * 4 / 10,
				recorded_khz * 12 / 10);
	}
}

/* Nobody is boosted who has to do more than a hundred thousand I/Os: what is left is utilisation.
 */
FIXTURE_TEST(test_no_boost)
{
	test_record_sim(&recording, rk3399_path, "psyncx12");
	policy.io_boost.min_rate_per_s = 100000;
	run();
	assert_int_not_equal(what_if.differences[0].other.reason, REASON_IO_BOOST);
	for (uint32_t d = 0; d < what_if.n_domains; d++)
		assert_in_range(opp_times_mean_khz(&what_if.other[d]), 408000, 600000);
}

/* The time after the last call counts, and what was decided before the first changes. */
FIXTURE_TEST(test_steady)
{
	struct topology *topology = test_topology_usual(1, 1);
	struct recorder *recorder = test_recorder_new(&recording);
	struct input input = { .now_ns = NS_PER_S,
			       .type = INPUT_DOMAIN,
			       .domain = { .active = true, .driven = true } };
	struct engine *engine;

	engine = engine_new(topology, &policy);
	engine_apply(engine, &input);
	input.type = INPUT_CPU;
	input.cpu = (struct input_cpu){ .util_q = 1000U << 20,
					.running = true,
					.idle_since_ns = UINT64_MAX };
	engine_apply(engine, &input);
	engine_decide(engine, 0, NS_PER_S);
	engine_commit(engine, 0, ENGINE_SET);
	assert_int_equal(engine_last(engine, 0)->target_khz, 2400000);
	/* Begins late, and nothing happens for ten seconds: the load is steady. */
	recorder_begin(recorder, engine, 2 * NS_PER_S);
	assert_int_equal(recorder_end(recorder, 12 * NS_PER_S), 0);
	recorder_free(recorder);
	engine_free(engine);

	policy.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 800000 };
	run();
	assert_int_equal(opp_times_total_ns(&what_if.recorded[0]), 10 * NS_PER_S);
	assert_int_equal(opp_times_mean_khz(&what_if.recorded[0]), 2400000);
	assert_int_equal(opp_times_total_ns(&what_if.other[0]), 10 * NS_PER_S);
	assert_in_range(opp_times_mean_khz(&what_if.other[0]), 800000, 802000);
	free(topology);
}

#define LEASE	   (1ULL << (POLICY_RULES_MAX - 1))
#define LEASE_TASK 7
#define STEPS	   100
#define CAPPED_KHZ 800000 /* at or above 30 % of 2400 MHz */

static struct policy overridden_policy(void)
{
	struct policy ret;
	struct policy_rule *rule = &ret.rules[POLICY_RULES_MAX - 1];

	policy_init(&ret);
	ret.n_overrides = 1;
	strcpy(rule->name, "override-1");
	rule->domain_cpu = POLICY_ANY_DOMAIN;
	rule->properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 30 };
	rule->override = (struct policy_override){ .id = 1, .pid = LEASE_TASK };
	return ret;
}

static void tell(struct recorder *recorder, struct engine *engine, uint64_t now_ns,
		 struct input input)
{
	input.now_ns = now_ns;
	engine_apply(engine, &input);
}

static void tell_matched(struct recorder *recorder, struct engine *engine, uint64_t now_ns,
			 uint64_t matched)
{
	tell(recorder, engine, now_ns,
	     (struct input){ .type = INPUT_TASK_RULES,
			     .task_rules = { LEASE_TASK, LEASE_TASK, "capped", matched } });
}

/* A second of one CPU's work, ten milliseconds at a time, by a task of those rules. */
static uint64_t work(struct recorder *recorder, struct engine *engine, uint64_t now_ns,
		     uint64_t matched)
{
	for (int i = 0; i < STEPS; i++, now_ns += 10 * NS_PER_MS) {
		tell(recorder, engine, now_ns,
		     (struct input){ .type = INPUT_CPU,
				     .cpu = { .util_q = 900U << 20,
					      .running = true,
					      .idle_since_ns = UINT64_MAX } });
		tell(recorder, engine, now_ns,
		     (struct input){ .type = INPUT_CLASS_RUN,
				     .class_run = { .matched = matched,
						    .ran_ns = now_ns,
						    .long_running_ns = now_ns,
						    .ran_pid = LEASE_TASK,
						    .long_running_pid = LEASE_TASK } });
		engine_advance(engine, now_ns);
		if (!engine_is_due(engine, 0, now_ns))
			continue;
		engine_decide(engine, 0, now_ns);
		engine_commit(engine, 0, ENGINE_SET);
	}
	return now_ns;
}

/* A second under an override of the task, and one after its end. */
static void record_override(void)
{
	struct topology *topology = test_topology_usual(1, 1);
	struct recorder *recorder = test_recorder_new(&recording);
	struct policy overridden = overridden_policy();
	struct engine *engine = engine_new(topology, &overridden);
	uint64_t now_ns = NS_PER_S;

	recorder_begin(recorder, engine, now_ns);
	tell(recorder, engine, now_ns,
	     (struct input){ .type = INPUT_DOMAIN, .domain = { .active = true, .driven = true } });
	tell_matched(recorder, engine, now_ns, LEASE);
	now_ns = work(recorder, engine, now_ns, LEASE);
	overridden.n_overrides = 0;
	engine_set_policy(engine, &overridden, now_ns);
	tell_matched(recorder, engine, now_ns, 0);
	now_ns = work(recorder, engine, now_ns, 0);
	assert_int_equal(recorder_end(recorder, now_ns), 0);
	recorder_free(recorder);
	engine_free(engine);
	free(topology);
}

static uint64_t capped_ns(const struct opp_times *times)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < times->info->n_opps; i++)
		if (times->info->opp_khz[i] <= CAPPED_KHZ)
			ns += times->at_ns[i];
	return ns;
}

/* An override that was recorded holds under any policy, for as long as it did. */
FIXTURE_TEST(test_override)
{
	record_override();
	policy.n_rules = 1;
	strcpy(policy.rules[0].name, "unlike");
	policy.rules[0].domain_cpu = POLICY_ANY_DOMAIN;
	policy.rules[0].properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 60 };
	run();
	/* Its end is seen in the first round after it, which need not be the same one. */
	if (what_if.n_differences)
		assert_true(what_if.differences[0].at_ns >= NS_PER_S);
	assert_in_range(capped_ns(&what_if.recorded[0]), NS_PER_S * 9 / 10, NS_PER_S * 11 / 10);
	assert_in_range(capped_ns(&what_if.other[0]), NS_PER_S * 9 / 10, NS_PER_S * 11 / 10);
}

/* Where the policy's own rules leave no room for it, it is left out. */
FIXTURE_TEST(test_override_without_room)
{
	record_override();
	policy.n_rules = POLICY_RULES_MAX;
	for (uint32_t i = 0; i < policy.n_rules; i++)
		policy.rules[i].domain_cpu = POLICY_ANY_DOMAIN;
	run();
	assert_true(what_if.n_differences > 0);
	assert_int_equal(what_if.differences[0].recorded.limiter, LIMITER_CAP);
	assert_int_equal(what_if.differences[0].recorded.target_khz, CAPPED_KHZ);
	assert_int_equal(what_if.differences[0].other.limiter, LIMITER_NONE);
	assert_true(what_if.differences[0].other.target_khz > CAPPED_KHZ);
	assert_int_equal(capped_ns(&what_if.other[0]), 0);
}

int main(int argc, char *argv[])
{
	rk3399_path = argv[1];
	return tests_run(NULL, NULL);
}
