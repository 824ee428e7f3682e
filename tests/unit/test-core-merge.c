// SPDX-License-Identifier: GPL-2.0-only
/* What a decision makes of the CPUs of a domain, what is watched from then on, and until when. */
#include "test-core.h"

#include "config/keys.h"
#include "core/engine.h"
#include "core/opp.h"
#include "wakegov/decay.h"

#define START_NS  (1000 * NS_PER_S)
#define HOLD_NS	  (20 * NS_PER_MS)
#define RISE_NS	  (24 * NS_PER_MS)
#define LONG_NS	  NS_PER_S
#define LAST	  (HOLD_NS - 1) /* the last nanosecond of a hold time */
#define HALF_LAST (HOLD_NS / 2 - 1)
#define NEVER	  UINT64_MAX

struct load {
	uint32_t util_cap;
	uint32_t est_cap;
	bool running;
	uint64_t idle_ago_ns;
	uint64_t burst_ns;
};

static struct topology *topology;
static struct policy policy;
static struct engine *engine;

/* The engine is the domain's two CPUs, for which nothing was decided yet. */
static void begin(bool clamps)
{
	engine_free(engine);
	engine = engine_new(topology, &policy);
	assert_non_null(engine);
	engine_apply(engine, &(struct input){
				     .now_ns = START_NS,
				     .type = INPUT_DOMAIN,
				     .domain = { .active = true, .driven = true, .clamps = clamps },
			     });
}

static int set_up(void **state)
{
	topology = test_topology_usual(1, 2);
	policy_init(&policy);
	begin(false);
	return 0;
}

static int tear_down(void **state)
{
	engine = engine_free(engine);
	free(topology);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void put(uint32_t cpu, const struct load *load, uint64_t now_ns)
{
	engine_apply(engine, &(struct input){
				     .now_ns = now_ns,
				     .type = INPUT_CPU,
				     .cpu = { .cpu = cpu,
					      .util_q = DECAY_Q(load->util_cap),
					      .est_q = DECAY_Q(load->est_cap),
					      .running = load->running,
					      .idle_since_ns = now_ns - load->idle_ago_ns,
					      .burst_ns = load->burst_ns },
			     });
}

static const struct decision *decide(const struct load loads[2], uint64_t now_ns)
{
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		put(cpu, &loads[cpu], now_ns);
	engine_decide(engine, 0, now_ns);
	engine_commit(engine, 0, ENGINE_SET);
	return engine_last(engine, 0);
}

/* The most that an OPP serves with 25 % of headroom. */
static uint32_t covered_q(uint32_t khz)
{
	return (uint64_t)DECAY_Q(1024ULL * khz / 2400000) * 4 / 5;
}

/* clang-format off */
#define ASLEEP { 0, 0, false, LONG_NS, 0 }

/* Each row: the CPUs, the decision, and what is watched of each CPU after it. */
static const struct {
	struct load loads[2];
	uint32_t khz, cpu;
	uint32_t low_khz[2], high_khz; /* 0: no utilisation is too low, or too high */
	bool watch_idle[2];
	uint64_t next_ns; /* from now on */
} watched[] = {
	{ { { 600, 600, true, LONG_NS, 0 }, ASLEEP },
	  1800000, 0, { 1600000, 0 }, 1800000, { true, false }, NEVER },
	/* It was idle a moment ago: it is not watched, but decided for again. */
	{ { { 600, 600, true, LAST, 0 }, ASLEEP },
	  1800000, 0, { 1600000, 0 }, 1800000, { false, false }, HOLD_NS },
	{ { { 600, 600, true, HOLD_NS, 0 }, ASLEEP },
	  1800000, 0, { 1600000, 0 }, 1800000, { true, false }, NEVER },
	/* The same of the CPU that does not decide. */
	{ { { 10, 10, true, LAST, 0 }, { 600, 600, true, LONG_NS, 0 } },
	  1800000, 1, { 0, 1600000 }, 1800000, { false, true }, HOLD_NS },
	{ { { 10, 10, true, HOLD_NS, 0 }, { 600, 600, true, LONG_NS, 0 } },
	  1800000, 1, { 0, 1600000 }, 1800000, { true, true }, NEVER },
	/* The burst asks for more than the utilisation, for which the OPP below suffices. */
	{ { { 10, 10, true, LONG_NS, RISE_NS / 2 }, ASLEEP },
	  1200000, 0, { 0, 0 }, 1200000, { true, false }, NEVER },
	/* The highest and the lowest OPP have one neighbour. */
	{ { { 1024, 1024, true, LONG_NS, 0 }, ASLEEP }, 2400000, 0, { 2200000, 0 }, 0, { true, false }, NEVER },
	{ { { 100, 100, true, LONG_NS, 0 }, ASLEEP }, 800000, 0, { 0, 0 }, 800000, { false, false }, NEVER },
	/* An idle domain falls after the hold time. */
	{ { { 600, 600, false, NS_PER_MS, 0 }, ASLEEP },
	  1800000, 0, { 0, 0 }, 1800000, { false, false }, HOLD_NS - NS_PER_MS },
	{ { { 600, 600, false, NS_PER_MS, 0 }, { 0, 0, false, NS_PER_MS / 2, 0 } },
	  1800000, 0, { 0, 0 }, 1800000, { false, false }, HOLD_NS - NS_PER_MS / 2 },
	/* Beside one at work it decays, which is looked at no sooner than after the hold. */
	{ { { 600, 600, false, NS_PER_MS, 0 }, { 10, 10, true, LONG_NS, 0 } },
	  1800000, 0, { 0, 0 }, 1800000, { false, true }, HOLD_NS },
};
/* clang-format on */

FIXTURE_TEST(test_watch)
{
	for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
		const struct decision *decision;

		begin(false);
		decision = decide(watched[i].loads, START_NS);
		assert_int_equal(decision->target_khz, watched[i].khz);
		assert_int_equal(decision->cpu, watched[i].cpu);
		assert_int_equal(decision->rule, 0);
		assert_int_equal(decision->pid, 0);
		assert_int_equal(engine_explanation(engine, 0)->n_contenders,
				 !!watched[i].loads[0].util_cap + !!watched[i].loads[1].util_cap);
		assert_string_equal(reason_names[decision->reason], "utilisation");
		assert_int_equal(engine_next_ns(engine), watched[i].next_ns == NEVER
								 ? NEVER
								 : START_NS + watched[i].next_ns);
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			uint64_t burst_ns = watched[i].khz * RISE_NS / 2400000;
			struct engine_band band;

			engine_band(engine, cpu, &band);
			assert_true(band.watch);
			assert_int_equal(band.watch_idle, watched[i].watch_idle[cpu]);
			assert_int_equal(band.low_q, covered_q(watched[i].low_khz[cpu]));
			assert_int_equal(band.high_q, watched[i].high_khz
							      ? covered_q(watched[i].high_khz)
							      : UINT32_MAX);
			/* Within one part of the capacity. */
			if (watched[i].high_khz)
				assert_in_range(band.burst_ns, burst_ns, burst_ns + RISE_NS / 1024);
			else
				assert_int_equal(band.burst_ns, 0);
			assert_int_equal(band.long_burst_ns, NS_PER_MS + NS_PER_MS / 2);
		}
	}
}

/* A moment of work within the hold time keeps the domain up for no longer than that. */
FIXTURE_TEST(test_moment_is_no_work)
{
	static const struct load at_work[2] = { { 600, 600, true, LONG_NS, 0 }, ASLEEP },
				 blip[2] = { { 600, 100, true, HOLD_NS - NS_PER_MS, 0 }, ASLEEP };
	uint64_t now_ns = START_NS + LONG_NS;

	decide(at_work, START_NS);
	assert_int_equal(decide(blip, now_ns)->target_khz, 1800000);
	assert_int_equal(engine_next_ns(engine), now_ns + NS_PER_MS);
}

/* With far OPPs the utilisation takes longer than the hold time to decay to the lower one. */
FIXTURE_TEST(test_decay_is_waited_for)
{
	static const struct load loads[2] = { { 1000, 1000, false, NS_PER_MS, 0 },
					      { 10, 10, true, LONG_NS, 0 } };

	topology->domains[0].n_opps = 2;
	topology->domains[0].opp_khz[1] = 2400000;
	begin(false);
	assert_int_equal(decide(loads, START_NS)->target_khz, 2400000);
	/* 32.768 ms · log2(1000 / (341 · 0.8)) */
	assert_in_range(engine_next_ns(engine), START_NS + 61400 * NS_PER_US,
			START_NS + 61450 * NS_PER_US);
	/* No lower one is allowed. */
	policy.domain.min = (struct policy_frequency){ POLICY_FREQUENCY_PERCENT, 100 };
	begin(false);
	assert_int_equal(decide(loads, START_NS)->target_khz, 2400000);
	assert_int_equal(engine_next_ns(engine), NEVER);
}

/*
 * Each row: whether the domain was at work before, a CPU that runs after an idle time, and whether
 * that is work. An idle domain needs half of the time, and a task with a known need none.
 */
FIXTURE_TEST(test_moment)
{
	static const struct {
		bool was_at_work;
		struct load load;
		bool is_at_work;
	} rows[] = {
		{ true, { 600, 0, true, LAST, 0 }, true },
		{ true, { 600, 0, true, HOLD_NS, 0 }, false },
		{ false, { 600, 0, true, HALF_LAST, 0 }, true },
		{ false, { 600, 0, true, HOLD_NS / 2, 0 }, false },
		/* Eight times the burst is taken off the idle time. */
		{ false, { 600, 0, true, HOLD_NS / 2 + 8000, 1000 }, false },
		{ false, { 600, 0, true, HOLD_NS / 2 + 8000, 1001 }, true },
		/* An eighth of the idle time that counts, but no longer running. */
		{ false, { 600, 0, false, HOLD_NS / 2 + 8000, 1001 }, false },
		{ false, { 600, 0, false, HALF_LAST, 0 }, true },
		{ true, { 600, 0, false, LAST, 0 }, true },
		{ true, { 600, 0, false, HOLD_NS, 0 }, false },
		/* More than a sixteenth above what is known is news. */
		{ false, { 340, 320, true, LONG_NS, 0 }, true },
		{ false, { 341, 320, true, LONG_NS, 0 }, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct load loads[2] = { { 700, 700, true, LONG_NS, 0 }, ASLEEP };
		uint32_t need_cap = rows[i].is_at_work ? rows[i].load.util_cap
						       : rows[i].load.est_cap;
		const struct decision *decision;

		begin(false);
		if (rows[i].was_at_work)
			decide(loads, START_NS);
		loads[0] = rows[i].load;
		decision = decide(loads, START_NS + LONG_NS);
		assert_int_equal(decision->want_cap, (need_cap * 5 + 3) / 4);
		assert_string_equal(reason_names[decision->reason],
				    need_cap ? "utilisation" : "idle");
	}
}

/* Where clamps drive a domain nothing depends on its target: it is looked at ten times a second. */
FIXTURE_TEST(test_looks)
{
	static const struct load busy[2] = { { 600, 600, true, LONG_NS, 0 }, ASLEEP };
	static const struct load idle[2] = { ASLEEP, ASLEEP };
	struct engine_band band;

	begin(true);
	assert_int_equal(decide(busy, START_NS)->target_khz, 1800000);
	assert_int_equal(engine_next_ns(engine), START_NS + 100 * NS_PER_MS);
	engine_band(engine, 0, &band);
	assert_false(band.watch);
	assert_false(band.watch_idle);
	assert_int_equal(band.low_q, 0);
	assert_int_equal(band.high_q, UINT32_MAX);
	decide(busy, START_NS + 199 * NS_PER_MS);
	assert_int_equal(engine_next_ns(engine), START_NS + 200 * NS_PER_MS);
	decide(idle, START_NS + 300 * NS_PER_MS);
	assert_int_equal(engine_next_ns(engine), NEVER);
	engine_band(engine, 0, &band);
	assert_true(band.watch);
}
