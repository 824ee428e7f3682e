// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits by their requests: in a made-up tree the files hold what is in force, and the test says
 * what was asked for. The kernel's own requests: tests/lab/actuator-limits.c.
 */
#include "fake-setting.h"

#include <sched.h>

#include "wakegov/abi.h"

#define MIN    "cpufreq/policy0/scaling_min_freq"
#define MAX    "cpufreq/policy0/scaling_max_freq"
#define NO_MAX 2147483647

static const struct topology_domain info = {
	.name = "policy0",
	.n_opps = 4,
	.opp_khz = { 400000, 1000000, 1400000, 1800000 },
	.capacity = 1024,
};

static uint32_t asked_min_khz, asked_max_khz;
static struct wakegov_limits in_force; /* and what else is known of the domain */

static void read_asked(void *userdata, int fd, struct wakegov_limits *ret)
{
	*ret = in_force;
	ret->min_khz = asked_min_khz;
	ret->max_khz = asked_max_khz;
}

/* A thermal limit of 1000 MHz is in force; no program asked for a limit. */
static int set_up(void **state)
{
	struct setting *s;

	if (setting_begin(state) < 0)
		return -1;
	s = *state;
	fake_write(MIN, "400000");
	fake_write(MAX, "1000000");
	asked_min_khz = 0;
	asked_max_khz = NO_MAX;
	if (setting_open(s, &info) < 0)
		return -1;
	in_force = (struct wakegov_limits){
		.in_force_min_khz = 400000,
		.in_force_max_khz = 1000000,
		.hardware_max_khz = s->domain.hardware_max_khz,
		.governor = 1,
	};
	s->domain.read_limits = read_asked;
	return backend_limits.acquire(&s->domain);
}

#define FIXTURE_TEST(name) SETTING_TEST(name, set_up)

static void apply(struct setting *s, uint32_t min_khz, uint32_t max_khz)
{
	const struct actuator_request request = { 1000000, min_khz, max_khz, min_khz, max_khz };

	assert_int_equal(backend_limits.apply(&s->domain, &request), ACTUATOR_DONE);
	asked_min_khz = s->domain.range.min.put_khz;
	asked_max_khz = s->domain.range.max.put_khz;
}

static void assert_saved(struct setting *s, enum control control, const char *value)
{
	const struct saved_value *saved = saved_find(s->saved, info.first_cpu, control);

	assert_non_null(saved);
	assert_string_equal(saved->value, value);
}

/* The thermal limit is not saved, written or restored as the user's. */
FIXTURE_TEST(test_passing_limit)
{
	assert_saved(s, CONTROL_MIN_FREQ, "0");
	assert_saved(s, CONTROL_MAX_FREQ, "2147483647");
	apply(s, 400000, 600000);
	fake_assert(MAX, "600000");
	apply(s, 0, UINT32_MAX);
	fake_assert(MAX, "2147483647");
	apply(s, 400000, 600000);
	assert_int_equal(actuator_domain_release(&s->domain, &backend_limits, NULL, NULL),
			 ACTUATOR_DONE);
	fake_assert(MIN, "0");
	fake_assert(MAX, "2147483647");
}

TEST(test_report_without_limit)
{
	struct restore_result result = { .name = "scaling_max_freq", .value = "2147483647" };
	char text[128];

	restore_describe(&result, text, sizeof(text));
	assert_string_equal(text, "restored policy0 scaling_max_freq to no limit");
	result.name = "scaling_min_freq";
	restore_describe(&result, text, sizeof(text));
	assert_string_equal(text, "restored policy0 scaling_min_freq to 2147483647");
}

/* Limits that are in force late, or never, are ours: the requests tell. */
FIXTURE_TEST(test_in_force_late)
{
	uint32_t min_khz, max_khz;

	apply(s, 1000000, 1400000);
	fake_write(MIN, "400000");
	fake_write(MAX, "1800000");
	s->domain.touched = 1u << CONTROL_MAX_FREQ;
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_DONE);
	assert_int_equal(actuator_domain_read_limits(&s->domain, &min_khz, &max_khz), 0);
	assert_int_equal(min_khz, 400000);
	assert_int_equal(max_khz, 1800000);
}

/* Another program writes what was there before ours: known at once. */
FIXTURE_TEST(test_put_back_at_once)
{
	apply(s, 0, 1400000);
	asked_max_khz = 1800000;
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_TAKEN_OVER);
	assert_string_equal(s->domain.why, "another program set scaling_max_freq to 1800000");
	assert_saved(s, CONTROL_MAX_FREQ, "2147483647");
	assert_null(saved_find(s->saved, info.first_cpu, CONTROL_MIN_FREQ));
	fake_write(MAX, "1800000");
	assert_int_equal(actuator_domain_release(&s->domain, &backend_limits, NULL, NULL),
			 ACTUATOR_DONE);
	fake_assert(MAX, "1800000");
	assert_int_equal(s->saved->n, 0);
}

/* A program that puts back what it found puts back ours: the domain is there to be taken again. */
FIXTURE_TEST(test_ours_put_back)
{
	for (int is_released = 0; is_released < 2; is_released++) {
		apply(s, 0, 1400000);
		asked_max_khz = 1000000;
		assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_TAKEN_OVER);
		assert_false(actuator_domain_is_back(&s->domain));
		fake_write(MAX, "1400000");
		asked_max_khz = 1400000;
		assert_true(actuator_domain_is_back(&s->domain));
		if (!is_released)
			assert_int_equal(backend_limits.acquire(&s->domain), ACTUATOR_DONE);
		assert_saved(s, CONTROL_MAX_FREQ, "2147483647");
		assert_int_equal(actuator_domain_release(&s->domain, &backend_limits, NULL, NULL),
				 ACTUATOR_DONE);
		fake_assert(MAX, "2147483647");
		assert_int_equal(s->saved->n, 0);
		asked_max_khz = NO_MAX;
		if (!is_released)
			assert_int_equal(backend_limits.acquire(&s->domain), ACTUATOR_DONE);
	}
}

/* Set where we hold none, above the thermal limit: what was asked for is saved. */
FIXTURE_TEST(test_set_while_free)
{
	apply(s, 600000, UINT32_MAX);
	fake_write(MAX, "1000000");
	asked_max_khz = 1400000;
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_DONE);
	assert_saved(s, CONTROL_MAX_FREQ, "1400000");
	assert_int_equal(s->domain.state, ACTUATOR_STATE_DRIVEN);
	apply(s, 600000, 600000);
	assert_int_equal(actuator_domain_release(&s->domain, &backend_limits, NULL, NULL),
			 ACTUATOR_DONE);
	fake_assert(MAX, "1400000");
}

/* amd-pstate has a minimum above the lowest OPP while no program requests one, and so it stays. */
FIXTURE_TEST(test_default_min)
{
	uint32_t min_khz, max_khz;

	actuator_domain_release(&s->domain, &backend_limits, NULL, NULL);
	asked_min_khz = 0;
	asked_max_khz = NO_MAX;
	fake_write("cpufreq/policy0/amd_pstate_lowest_nonlinear_freq", "600000");
	fake_write(MIN, "600000");
	fake_write(MAX, "1800000");
	assert_int_equal(backend_limits.acquire(&s->domain), ACTUATOR_DONE);
	apply(s, 400000, 1400000);
	assert_int_equal(s->domain.range.min.put_khz, 0);
	apply(s, 1000000, 1400000);
	fake_assert(MIN, "1000000");
	assert_int_equal(actuator_domain_read_limits(&s->domain, &min_khz, &max_khz), 0);
	assert_int_equal(min_khz, 600000);
	apply(s, 400000, 1400000);
	fake_assert(MIN, "0");
	/* A program that asks for less has it. */
	asked_min_khz = 400000;
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_DONE);
	apply(s, 1000000, 1400000);
	apply(s, 0, 1400000);
	fake_assert(MIN, "400000");
}

#define HARDWARE_MAX "cpufreq/policy0/cpuinfo_max_freq"

/* What cpufreq_boost_set_sw() does to the request. */
static void switch_boost(uint32_t khz)
{
	fake_write(HARDWARE_MAX, "%u", khz);
	asked_max_khz = khz;
}

/* The kernel has written over our limit: no other program has, and ours is written again. */
FIXTURE_TEST(test_boost_switched)
{
	apply(s, 0, 1400000);
	assert_false(actuator_domain_see_boost(&s->domain));
	switch_boost(2000000);
	assert_true(actuator_domain_see_boost(&s->domain));
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_DONE);
	assert_int_equal(s->domain.state, ACTUATOR_STATE_DRIVEN);
	assert_saved(s, CONTROL_MAX_FREQ, "2000000");
	apply(s, 0, 1400000);
	fake_assert(MAX, "1400000");
	assert_false(actuator_domain_see_boost(&s->domain));
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_DONE);

	/* The next one that writes this is another program. */
	asked_max_khz = 2000000;
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_TAKEN_OVER);
}

/* On and off before anything was looked at: the maximum is as before, and the switch was written.
 */
FIXTURE_TEST(test_boost_switched_twice)
{
	apply(s, 0, 1400000);
	switch_boost(2000000);
	switch_boost(1800000);
	s->domain.touched = 1u << CONTROL_BOOST;
	assert_true(actuator_domain_see_boost(&s->domain));
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_DONE);
	assert_saved(s, CONTROL_MAX_FREQ, "1800000");
	assert_int_equal(actuator_domain_release(&s->domain, &backend_limits, NULL, NULL),
			 ACTUATOR_DONE);
	fake_assert(MAX, "1800000");
}

/* The maximum in force is one that we had before: it is the hardware's now, and no trace of ours.
 */
FIXTURE_TEST(test_boost_off_again)
{
	uint32_t min_khz, max_khz;

	apply(s, 0, 1000000);
	apply(s, 0, 1400000);
	fake_write(HARDWARE_MAX, "1000000");
	fake_write(MAX, "1000000");
	assert_true(actuator_domain_see_boost(&s->domain));
	assert_int_equal(actuator_domain_read_limits(&s->domain, &min_khz, &max_khz), 0);
	assert_int_equal(max_khz, 1000000);
}

/* Another program's value is not the kernel's, whatever was switched meanwhile. */
FIXTURE_TEST(test_taken_over_while_boost_is_switched)
{
	apply(s, 0, 1400000);
	switch_boost(2000000);
	asked_max_khz = 1000000;
	assert_true(actuator_domain_see_boost(&s->domain));
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_TAKEN_OVER);
}

/* What asks for `max_khz` as the domain's own maximum; without waiting for schedutil. */
static int ask(struct setting *s, uint32_t max_khz)
{
	const struct actuator_request request = { 1000000, 0, max_khz, 0, max_khz };

	return backend_limits.apply(&s->domain, &request);
}

static void put_under_schedutil(void)
{
	fake_write("cpufreq/policy0/scaling_governor", "schedutil");
	fake_write("cpufreq/policy0/affected_cpus", "0 1");
}

/* A limit that widens waits for schedutil, and the caller does not. */
FIXTURE_TEST(test_widened)
{
	int r;

	put_under_schedutil();
	assert_int_equal(ask(s, 600000), ACTUATOR_DONE);
	assert_int_equal(ask(s, UINT32_MAX), ACTUATOR_NOT_YET);
	fake_assert(MAX, "600000");
	while ((r = ask(s, UINT32_MAX)) == ACTUATOR_NOT_YET)
		sched_yield();
	assert_int_equal(r, ACTUATOR_DONE);
	fake_assert(MAX, "2147483647");
}

/* A visit for a limit that was narrowed meanwhile does not count for the next one. */
FIXTURE_TEST(test_narrowed_meanwhile)
{
	put_under_schedutil();
	assert_int_equal(ask(s, 1400000), ACTUATOR_DONE);
	assert_int_equal(ask(s, 1800000), ACTUATOR_NOT_YET);
	assert_int_equal(ask(s, 600000), ACTUATOR_DONE);
	assert_int_equal(ask(s, 1800000), ACTUATOR_NOT_YET);
	fake_assert(MAX, "600000");
}

/* No thread runs on an isolated CPU. */
FIXTURE_TEST(test_widened_on_isolated_cpus)
{
	put_under_schedutil();
	fake_write("isolated", "0-1");
	assert_int_equal(ask(s, 600000), ACTUATOR_DONE);
	assert_int_equal(ask(s, UINT32_MAX), ACTUATOR_DONE);
	fake_write("isolated", "0");
	assert_int_equal(ask(s, 600000), ACTUATOR_DONE);
	assert_int_equal(ask(s, UINT32_MAX), ACTUATOR_NOT_YET);
}
