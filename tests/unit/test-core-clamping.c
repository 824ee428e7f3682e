// SPDX-License-Identifier: GPL-2.0-only
/* What tasks are to carry where domains are driven by clamps. */
#include "test-core-clamping.h"

#include "config/keys.h"
#include "wakegov/abi.h"

#define CAP_30	 0x1 /* bits of the rules below */
#define CAP_60	 0x2
#define FLOOR_50 0x4
#define PID	 7

static void set_rules(struct policy *policy)
{
	policy_init(policy);
	policy->n_rules = 3;
	for (uint32_t i = 0; i < policy->n_rules; i++)
		policy->rules[i].domain_cpu = POLICY_ANY_DOMAIN;
	policy->rules[0].properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 30 };
	policy->rules[1].properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 60 };
	policy->rules[2].properties.floor = (struct policy_level){ POLICY_LEVEL_PERCENT, 50 };
}

/* Two domains driven by clamps, and rules. */
static int begin(void **state)
{
	struct policy policy;

	set_rules(&policy);
	boosts_start(&policy);
	drive(true);
	return 0;
}

static void match(uint32_t pid, uint64_t matched)
{
	world_apply(&(struct input){
		.now_ns = world->now_ns,
		.type = INPUT_TASK_RULES,
		.task_rules = { .pid = pid, .tgid = pid, .matched = matched },
	});
}

static void run_co_runner(uint32_t pid, uint64_t matched)
{
	world_apply(&(struct input){
		.now_ns = world->now_ns,
		.type = INPUT_CO_RUNNER,
		.co_runner = { .pid = pid, .matched = matched },
	});
}

/* The one change that there is to be. */
static void assert_clamp(uint32_t pid, uint32_t min_cap, uint32_t max_cap)
{
	struct task_clamp clamp;

	assert_true(engine_pop_clamp(world->engine, &clamp));
	assert_int_equal(clamp.pid, pid);
	assert_int_equal(clamp.min_cap, min_cap);
	assert_int_equal(clamp.max_cap, max_cap);
	assert_false(engine_pop_clamp(world->engine, &clamp));
}

static void assert_no_change(void)
{
	struct task_clamp clamp;

	assert_false(engine_pop_clamp(world->engine, &clamp));
}

static void drop_changes(void)
{
	struct task_clamp clamp;

	while (engine_pop_clamp(world->engine, &clamp))
		;
}

WORLD_TEST(test_own, begin)
{
	match(PID, CAP_30);
	assert_clamp(PID, CLAMP_MIN_NONE, 307);
	match(PID, CAP_30);
	assert_no_change();
	match(PID, CAP_60 | FLOOR_50);
	assert_clamp(PID, 512, 614);
	/* The cap wins. */
	match(PID, CAP_30 | FLOOR_50);
	assert_clamp(PID, 307, 307);
	match(PID, 0);
	assert_clamp(PID, CLAMP_MIN_NONE, CLAMP_MAX_NONE);
}

WORLD_TEST(test_neighbour, begin)
{
	struct task_clamp clamp;

	run_co_runner(PID, CAP_30);
	assert_true(engine_pop_clamp(world->engine, &clamp));
	assert_int_equal(clamp.max_cap, 307);
	assert_string_equal(clamp_why_names[clamp.max_why], "neighbour");
	assert_int_equal(clamp.max_rule, 0);
	/* Its own cap, where that is lower. */
	match(PID, CAP_30);
	run_co_runner(PID, CAP_60);
	assert_no_change();
	/* One with a floor is not held down. */
	match(PID, FLOOR_50);
	assert_clamp(PID, 512, CLAMP_MAX_NONE);
	/* It runs for long now. */
	match(PID, 0);
	assert_clamp(PID, CLAMP_MIN_NONE, 614);
	run_co_runner(PID, 0);
	assert_clamp(PID, CLAMP_MIN_NONE, CLAMP_MAX_NONE);
}

static void ask_itself(uint32_t pid, uint32_t own)
{
	world_apply(&(struct input){
		.now_ns = world->now_ns,
		.type = INPUT_OWN_CLAMPS,
		.own_clamps = { .pid = pid, .own = own },
	});
}

/* The one change of a set that there is to be. */
static void assert_set(uint32_t cap, uint32_t floor)
{
	struct class_clamp clamp;
	struct task_class class;

	assert_true(engine_pop_class(world->engine, &class));
	assert_int_equal(class.pid, PID);
	engine_clamp_of_class(world->engine, class.class, &clamp);
	assert_int_equal(clamp.cap, cap);
	assert_int_equal(clamp.floor, floor);
	assert_false(engine_pop_class(world->engine, &class));
}

/* What a task asks for itself makes its set, beside its rules, and is the kernel's to merge. */
WORLD_TEST(test_asked_for_itself, begin)
{
	struct policy policy;
	struct task_class class;

	ask_itself(PID, wakegov_own(128, 512));
	assert_set(512, 128);
	/* The same clamps again, and none of another task, set no class anew. */
	ask_itself(PID, wakegov_own(128, 512));
	ask_itself(PID + 1, 0);
	assert_false(engine_pop_class(world->engine, &class));
	assert_no_change();
	match(PID, CAP_30);
	assert_set(307, 128);
	assert_clamp(PID, CLAMP_MIN_NONE, 307);
	set_rules(&policy);
	/* Other limits leave it alone; other bounds of bursts do not. */
	policy.domain.headroom_percent++;
	engine_set_policy(world->engine, &policy, world->now_ns);
	assert_no_change();
	policy.caps.burst_margin_ns++;
	engine_set_policy(world->engine, &policy, world->now_ns);
	assert_set(307, 128);
	ask_itself(PID, 0);
	assert_set(307, 0);
	match(PID, 0);
	assert_set(CLAMP_CAP_NONE, 0);
	assert_clamp(PID, CLAMP_MIN_NONE, CLAMP_MAX_NONE);
	assert_int_equal(task_count(engine_tasks(world->engine)), 0);
}

/* Where no domain is driven by clamps any more, each task is as it was before. */
WORLD_TEST(test_not_driven, begin)
{
	match(PID, CAP_30);
	assert_clamp(PID, CLAMP_MIN_NONE, 307);
	drive(false);
	assert_clamp(PID, CLAMP_MIN_NONE, CLAMP_MAX_NONE);
	drive(true);
	assert_clamp(PID, CLAMP_MIN_NONE, 307);
}

/* The first task ends, and has no clamp then. */
static void end_unclamped(void)
{
	struct task_clamp clamp;

	world_end_task(0);
	world_round();
	find_last(100, &clamp);
	assert_int_equal(clamp.min_cap, CLAMP_MIN_NONE);
	assert_int_equal(clamp.max_cap, CLAMP_MAX_NONE);
}

WORLD_TEST(test_boost, begin)
{
	struct fake_io io = boosts_sync_io(0, 100, 50);
	struct task_clamp clamp;

	boosts_start_paying(0, 0, &io);
	find_last(100, &clamp);
	assert_in_range(clamp.min_cap, 1, TOPOLOGY_CAPACITY_MAX);
	assert_string_equal(clamp_why_names[clamp.min_why], "io-boost");
	/* Its cap bounds the boost. */
	match(100, CAP_30);
	find_last(100, &clamp);
	assert_int_equal(clamp.min_cap, 307);
	assert_int_equal(clamp.max_cap, 307);
	/* The boost is over when its I/O is. */
	match(100, 0);
	end_unclamped();
}

/* How many tasks have another class for the kernel side; one_pid is among them. */
static uint32_t count_classes(uint32_t one_pid, uint32_t *ret_class)
{
	struct task_class class;
	uint32_t n = 0;

	*ret_class = UINT32_MAX;
	for (; engine_pop_class(world->engine, &class); n++)
		if (class.pid == one_pid)
			*ret_class = class.class;
	return n;
}

/* With another policy each task gets what that gives, whatever gave it its class before. */
WORLD_TEST(test_other_policy, begin)
{
	struct policy policy;
	uint32_t class;

	match(PID, CAP_30);
	assert_clamp(PID, CLAMP_MIN_NONE, 307);
	ask_itself(PID + 1, wakegov_own(128, 512));
	ask_itself(PID + 2, wakegov_own(128, 512));
	match(PID + 2, CAP_60);
	assert_int_equal(count_classes(PID, &class), 3);
	set_rules(&policy);
	policy.rules[0].properties.cap.value = 45;
	drop_changes();
	world_set_policy(&policy);
	assert_clamp(PID, CLAMP_MIN_NONE, 461);
	assert_int_equal(count_classes(PID + 1, &class), 3);
	assert_in_range(class, 1, CLAMP_CLASSES_MAX - 1);
	policy.n_rules = 0;
	world_set_policy(&policy);
	assert_int_equal(count_classes(PID, &class), 2);
	assert_int_equal(class, 0);
}

/* Own clamps are to be reported where some domain that is active is not driven by clamps. */
WORLD_TEST(test_needs_own, NULL)
{
	static const struct {
		bool active[2], clamps[2], needs, tasks;
	} rows[] = {
		{ { true, true }, { true, true }, false, true },
		{ { true, true }, { true, false }, true, true },
		{ { true, true }, { false, false }, true, false },
		{ { true, false }, { true, false }, false, true },
		{ { true, false }, { true, true }, false, true },
		{ { false, true }, { true, false }, true, false },
		{ { false, false }, { false, false }, false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(NULL);
		for (uint32_t j = 0; j < 2; j++)
			world_apply(&(struct input){
				.now_ns = world->now_ns,
				.type = INPUT_DOMAIN,
				.domain = { .domain = j,
					    .active = rows[i].active[j],
					    .driven = true,
					    .clamps = rows[i].clamps[j] },
			});
		assert_int_equal(engine_needs_own_clamps(world->engine), rows[i].needs);
		assert_int_equal(engine_clamps_tasks(world->engine), rows[i].tasks);
		world_deinit();
	}
}

/* What the kernel gives a task that waits for I/O is not taken from it. */
WORLD_TEST(test_io_is_never_held_down, begin)
{
	struct fake_io io = boosts_io(FAKE_IO_DEEP, 0, 100, 5);
	struct task_clamp clamp;

	world_start_io(0, 100, 0, &io);
	boosts_run_to(0, IO_BOOST_AT_LEVEL, NS_PER_S);
	boosts_run(100 * NS_PER_MS);
	run_co_runner(100, CAP_30);
	world_round();
	assert_no_change();
	/* A rule's cap is the administrator's will. */
	match(100, CAP_60);
	assert_clamp(100, CLAMP_MIN_NONE, 614);
	match(100, 0);
	find_last(100, &clamp);
	assert_int_equal(clamp.max_cap, CLAMP_MAX_NONE);
	/* Without its I/O it is a neighbour like any other. */
	world_end_task(0);
	world_round();
	find_last(100, &clamp);
	assert_int_equal(clamp.max_cap, 307);
	assert_string_equal(clamp_why_names[clamp.max_why], "neighbour");
}

/* Two domains driven by clamps, where the kernel boosts what waits for I/O. */
static void begin_boosted(void)
{
	begin(NULL);
	world->domains[0].kernel_khz = HIGHEST_KHZ;
	world->domains[1].kernel_khz = HIGHEST_KHZ;
}

/* What nothing depends on is looked at ten times a second, and not at all while the domain is idle.
 */
WORLD_TEST(test_unused_target, NULL)
{
	uint64_t before;

	begin_boosted();
	before = world->rounds;
	for (int i = 0; i < 200; i++) {
		world_switch(1, i % 2 == 0);
		world_run_until(world->now_ns + 5 * NS_PER_MS);
	}
	assert_in_range(world->rounds - before, 10, 15);
	world_switch(1, true);
	world_run_until(world->now_ns + 300 * NS_PER_MS);
	assert_int_equal(world_last(0)->target_khz, HIGHEST_KHZ);
	world_switch(1, false);
	world_run_until(world->now_ns + 300 * NS_PER_MS);
	assert_int_equal(world_last(0)->target_khz, LOWEST_KHZ);
	before = world->rounds;
	world_run_until(world->now_ns + 60 * NS_PER_S);
	assert_int_equal(world->rounds, before);
}

/* A deep queue gains nothing from the kernel's boost: it gets what its domain needs. */
WORLD_TEST(test_need, NULL)
{
	struct fake_io io = boosts_io(FAKE_IO_DEEP, 0, 100, 5);
	struct task_clamp clamp;
	uint32_t lowest_cap;

	begin_boosted();
	world_start_io(0, 100, 0, &io);
	boosts_run_to(0, IO_BOOST_DOESNT_PAY, 3 * NS_PER_S);
	find_last(100, &clamp);
	lowest_cap = opp_cap_at_khz(&world->topology->domains[0], LOWEST_KHZ);
	assert_int_equal(clamp.min_cap, CLAMP_MIN_NONE);
	assert_int_equal(clamp.max_cap, lowest_cap);
	assert_string_equal(clamp_why_names[clamp.max_why], "need");
	/* The need grows with what the domain has to do, and then there is no maximum. */
	world_switch(1, true);
	boosts_run(50 * NS_PER_MS);
	find_last(100, &clamp);
	assert_int_equal(clamp.max_cap, CLAMP_MAX_NONE);
	world_switch(1, false);
	boosts_run(300 * NS_PER_MS);
	find_last(100, &clamp);
	assert_int_equal(clamp.max_cap, lowest_cap);
	/* A floor of a rule is not lowered. */
	match(100, FLOOR_50);
	find_last(100, &clamp);
	assert_int_equal(clamp.min_cap, 512);
	assert_in_range(clamp.max_cap, 512, CLAMP_MAX_NONE);
	match(100, 0);
	end_unclamped();
}

/* Where the kernel's boost is predicted to pay, it is held, but for single pairs. */
WORLD_TEST(test_no_need, NULL)
{
	struct fake_io io = boosts_sync_io(0, 100, 50);
	struct task_clamp clamp;

	begin_boosted();
	world_start_io(0, 100, 0, &io);
	boosts_run(10 * NS_PER_S);
	boosts_assert_state(0, IO_BOOST_PAYS);
	assert_in_range(boosts_group(0)->experiment.tried, 1, 5);
	find_last(100, &clamp);
	assert_int_equal(clamp.max_cap, CLAMP_MAX_NONE);
	assert_string_equal(clamp_why_names[clamp.min_why], "io-boost");
	assert_int_equal(engine_floor_khz(world->engine, 0), HIGHEST_KHZ);
	/* Also while another CPU needs as much. */
	world_switch(1, true);
	boosts_run(300 * NS_PER_MS);
	world_apply(&(struct input){
		.now_ns = world->now_ns,
		.type = INPUT_CPU,
		.cpu = { .cpu = 1, .running = true, .util_q = DECAY_Q(1020) },
	});
	world_round();
	assert_int_equal(world_last(0)->reason, REASON_UTILISATION);
	assert_int_equal(engine_floor_khz(world->engine, 0), HIGHEST_KHZ);
	world_switch(1, false);
	world_end_task(0);
	world_round();
	assert_int_equal(engine_floor_khz(world->engine, 0), 0);
}

/* A boost that the kernel gives is no answer for a reader to which it gives none, as libaio's. */
WORLD_TEST(test_not_seen_by_the_kernel, NULL)
{
	struct fake_io io = boosts_sync_io(0, 100, 50);
	struct task_clamp clamp;

	begin_boosted();
	world_start_io(0, 100, 0, &io);
	boosts_run(2 * NS_PER_S);
	boosts_assert_state(0, IO_BOOST_PAYS);
	world->tasks[0].io.stopped = true;
	world->domains[0].kernel_khz = LOWEST_KHZ;
	io.asynchronous = true;
	world_start_io(1, 101, 0, &io);
	boosts_run_to(1, IO_BOOST_PAYS, 3 * NS_PER_S);
	find_last(101, &clamp);
	assert_int_not_equal(clamp.min_cap, CLAMP_MIN_NONE);
}

/* A reader that gains nothing, and then has more to do for each request: the maximum is gone. */
WORLD_TEST(test_need_changes, NULL)
{
	struct fake_io io = boosts_sync_io(0, 500, 2);
	struct task_clamp clamp;

	begin_boosted();
	world_start_io(0, 100, 0, &io);
	boosts_run_to(0, IO_BOOST_DOESNT_PAY, 3 * NS_PER_S);
	find_last(100, &clamp);
	assert_in_range(clamp.max_cap, 1, CLAMP_MAX_NONE - 1);
	world->tasks[0].io.work *= 100;
	boosts_run(3 * NS_PER_S);
	find_last(100, &clamp);
	assert_int_equal(clamp.max_cap, CLAMP_MAX_NONE);
}

/* Without a boost of the kernel nothing is tried of what gains nothing. */
WORLD_TEST(test_nothing_to_try, begin)
{
	struct fake_io io = boosts_io(FAKE_IO_DEEP, 0, 100, 5);

	world_start_io(0, 100, 0, &io);
	boosts_run(2 * NS_PER_S);
	boosts_assert_state(0, IO_BOOST_AT_LEVEL);
	assert_int_equal(boosts_group(0)->experiment.tries, 0);
	assert_no_change();
}

static void tell_bursts(uint64_t matched, uint64_t length_ns)
{
	world_apply(&(struct input){
		.now_ns = world->now_ns,
		.type = INPUT_BURSTS,
		.bursts = { .matched = matched, .length_ns = length_ns },
	});
}

/* The length of bursts applies to each task of the class, including those that come later. */
WORLD_TEST(test_bursts, NULL)
{
	struct policy policy;

	set_rules(&policy);
	policy.rules[2].properties.floor = (struct policy_level){ POLICY_LEVEL_RESPONSE, 1000 };
	boosts_start(&policy);
	drive(true);
	match(PID, FLOOR_50);
	assert_no_change();
	tell_bursts(FLOOR_50, 480000);
	assert_clamp(PID, 523, CLAMP_MAX_NONE);
	tell_bursts(FLOOR_50, 480000);
	assert_no_change();
	match(PID + 1, FLOOR_50);
	assert_clamp(PID + 1, 523, CLAMP_MAX_NONE);
	match(PID + 1, 0);
	assert_clamp(PID + 1, CLAMP_MIN_NONE, CLAMP_MAX_NONE);
	tell_bursts(FLOOR_50, 240000);
	assert_clamp(PID, 262, CLAMP_MAX_NONE);
}

static void keep(uint32_t pid, bool keeps)
{
	world_apply(&(struct input){
		.now_ns = world->now_ns,
		.type = INPUT_WAITED,
		.waited = { .pid = pid, .keeps = keeps },
	});
}

/* A task whose pieces are waited for keeps a minimum, as far as rules and the price allow. */
WORLD_TEST(test_waited, NULL)
{
	struct task_clamp clamp;
	struct policy policy;

	set_rules(&policy);
	policy.rules[2].properties = (struct policy_properties){
		.waiting = { POLICY_LEVEL_CAPACITY, 0 },
	};
	boosts_start(&policy);
	drive(true);
	keep(PID, true);
	assert_true(engine_pop_clamp(world->engine, &clamp));
	assert_int_equal(clamp.min_cap, TOPOLOGY_CAPACITY_MAX);
	assert_string_equal(clamp_why_names[clamp.min_why], "waited");
	keep(PID, true);
	assert_no_change();
	match(PID, CAP_30);
	assert_clamp(PID, 307, 307);
	match(PID, FLOOR_50);
	assert_clamp(PID, CLAMP_MIN_NONE, CLAMP_MAX_NONE);
	match(PID, 0);
	assert_clamp(PID, TOPOLOGY_CAPACITY_MAX, CLAMP_MAX_NONE);
	/* Beside a task with a cap it has that cap, as before. */
	run_co_runner(PID, CAP_60);
	assert_clamp(PID, 614, 614);
	run_co_runner(PID, 0);
	drop_changes();
	policy.waiting_uw = 0;
	engine_set_policy(world->engine, &policy, world->now_ns);
	assert_clamp(PID, CLAMP_MIN_NONE, CLAMP_MAX_NONE);
	policy.waiting_uw = 4000000;
	engine_set_policy(world->engine, &policy, world->now_ns);
	assert_clamp(PID, TOPOLOGY_CAPACITY_MAX, CLAMP_MAX_NONE);
	keep(PID, false);
	assert_clamp(PID, CLAMP_MIN_NONE, CLAMP_MAX_NONE);
}
