// SPDX-License-Identifier: GPL-2.0-only
/* Limits that the kernel applies late: a made-up tree does it when it is told to. */
#include "fake-setting.h"

#include <time.h>

#define MIN "cpufreq/policy0/scaling_min_freq"
#define MAX "cpufreq/policy0/scaling_max_freq"

static const struct topology_domain info = {
	.name = "policy0",
	.n_opps = 4,
	.opp_khz = { 400000, 1000000, 1400000, 1800000 },
	.capacity = 1024,
};

static int set_up(void **state)
{
	struct setting *s;

	if (setting_begin(state) < 0)
		return -1;
	s = *state;
	fake_write(MIN, "400000");
	fake_write(MAX, "1800000");
	if (setting_open(s, &info) < 0)
		return -1;
	return backend_limits.acquire(&s->domain);
}

static void apply(struct setting *s, uint32_t khz)
{
	const struct actuator_request request = { khz, khz, khz, khz, khz };

	assert_int_equal(backend_limits.apply(&s->domain, &request), ACTUATOR_DONE);
}

/* Until the kernel has had the time to apply what was written. Returns the outcome. */
static int apply_settled(struct setting *s, const struct actuator_request *request)
{
	int r = backend_limits.apply(&s->domain, request);

	assert_int_equal(r, ACTUATOR_UNVERIFIED);
	while (r == ACTUATOR_UNVERIFIED) {
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		r = backend_limits.apply(&s->domain, request);
	}
	return r;
}

/* Two writes, and what stood there before them is what is read: it is nobody else's. */
static void test_read_late(void **state)
{
	struct setting *s = *state;

	apply(s, 1000000);
	apply(s, 1400000);
	fake_write(MIN, "400000");
	fake_write(MAX, "1800000");
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_DONE);
	assert_int_equal(s->domain.state, ACTUATOR_STATE_DRIVEN);
	fake_write(MIN, "1400000");
	fake_write(MAX, "1400000");
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_DONE);

	/* What was read once is past: a maximum above ours is another writer's now. */
	fake_write(MAX, "1800000");
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_TAKEN_OVER);
	assert_int_equal(s->domain.state, ACTUATOR_STATE_YIELDED);
}

/* Somebody puts back what we had replaced, before anybody saw ours: the last look knows. */
static void test_put_back_at_once(void **state)
{
	const struct actuator_request request = { 1000000, 1000000, 1000000, 1000000, 1000000 };
	struct setting *s = *state;

	apply(s, 1000000);
	fake_write(MAX, "1800000");
	s->domain.touched = 1u << CONTROL_MAX_FREQ;
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_DONE);
	assert_true(range_is_suspect(&s->domain.range));
	assert_int_equal(apply_settled(s, &request), ACTUATOR_TAKEN_OVER);
	assert_int_equal(s->domain.state, ACTUATOR_STATE_YIELDED);
	fake_assert(MAX, "1800000");
}

/* Somebody writes what we wrote: suspected for a while, and no longer. */
static void test_same_value(void **state)
{
	const struct actuator_request request = { 1400000, 1400000, 1400000, 1400000, 1400000 };
	struct setting *s = *state;

	apply(s, 1000000);
	s->domain.touched = 1u << CONTROL_MAX_FREQ;
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_DONE);
	assert_int_equal(apply_settled(s, &request), ACTUATOR_DONE);
	assert_false(range_is_suspect(&s->domain.range));
	apply(s, 1000000);
}

/* Somebody sets a limit where we held none, and the kernel applies it some looks later. */
static void test_applied_late(void **state)
{
	const struct actuator_request request = { 1000000, 600000, 1800000, 600000, 1800000 };
	const struct saved_value *saved;
	struct setting *s = *state;

	assert_int_equal(backend_limits.apply(&s->domain, &request), ACTUATOR_DONE);
	s->domain.touched = 1u << CONTROL_MAX_FREQ;
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_DONE);
	for (int i = 0; i < 3; i++)
		assert_int_equal(backend_limits.apply(&s->domain, &request), ACTUATOR_UNVERIFIED);
	fake_write(MAX, "1400000");
	assert_int_equal(backend_limits.verify(&s->domain), ACTUATOR_DONE);
	assert_false(range_is_suspect(&s->domain.range));
	saved = saved_find(s->domain.saved, info.first_cpu, CONTROL_MAX_FREQ);
	assert_string_equal(saved->value, "1400000");
	assert_int_equal(backend_limits.apply(&s->domain, &request), ACTUATOR_UNCHANGED);
	assert_int_equal(s->domain.state, ACTUATOR_STATE_DRIVEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read_late, set_up, setting_tear_down),
		cmocka_unit_test_setup_teardown(test_put_back_at_once, set_up, setting_tear_down),
		cmocka_unit_test_setup_teardown(test_same_value, set_up, setting_tear_down),
		cmocka_unit_test_setup_teardown(test_applied_late, set_up, setting_tear_down),
	};

	fake_enter_or_skip();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
