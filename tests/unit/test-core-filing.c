// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "core/filing.h"

#define PLACES	100
#define DOMAINS 3
#define DEVICES 2

static const struct filed nothing = {
	.due_ns = AGENDA_NEVER,
	.forget_ns = AGENDA_NEVER,
	.domain = FILED_NOWHERE,
	.other_domain = FILED_NOWHERE,
	.device = IO_BOOST_NO_DEVICE,
};

static void test_asked_once(void **state)
{
	struct filing *filing = filing_new(4, 1);
	struct filed filed = nothing;

	for (uint32_t place = 0; place < 4; place++) {
		filed.due_ns = place < 3 ? 40 - 10 * place : 100;
		filing_put(filing, place, &filed);
	}
	assert_int_equal(filing_next_ns(filing), 20);
	/* Those of 30 and 20, in the order of places. */
	assert_int_equal(place_set_next(filing_ask(filing, 30), 0), 1);
	assert_int_equal(place_set_next(filing_asked(filing), 2), 2);
	assert_int_equal(place_set_next(filing_asked(filing), 3), PLACE_SET_NONE);
	assert_int_equal(filing_next_ns(filing), 40);
	/* One that stays due is not asked again until it is said to be done. */
	filed.due_ns = 25;
	filing_put(filing, 1, &filed);
	assert_int_equal(filing_next_ns(filing), 40);
	filing_end_asked(filing, 1);
	assert_int_equal(place_set_next(filing_ask(filing, 30), 0), 2);
	filing_put(filing, 1, &filed);
	assert_int_equal(filing_next_ns(filing), 25);
	/* One that is gone is not asked any more. */
	filing_put(filing, 2, NULL);
	assert_int_equal(place_set_next(filing_asked(filing), 0), PLACE_SET_NONE);
	assert_null(filing_free(filing));
}

static void test_forgotten_in_turn(void **state)
{
	struct filing *filing = filing_new(3, 1);
	struct filed filed = nothing;

	filed.forget_ns = 30;
	filing_put(filing, 0, &filed);
	filed.forget_ns = 20;
	filing_put(filing, 2, &filed);
	assert_int_equal(filing_next_ns(filing), AGENDA_NEVER); /* nobody is woken for it */
	assert_int_equal(filing_to_forget(filing, 19), AGENDA_NONE);
	assert_int_equal(filing_to_forget(filing, 20), 2);
	filing_put(filing, 2, NULL);
	assert_int_equal(filing_to_forget(filing, 29), AGENDA_NONE);
	assert_int_equal(filing_to_forget(filing, 30), 0);
	filing_free(filing);
}

/* It asks both domains that it moves between, and then only the other one, as its own. */
static void test_two_domains(void **state)
{
	struct filing *filing = filing_new(1, 2);
	struct filed filed = nothing;

	filed.domain = 0;
	filed.other_domain = 1;
	filing_put(filing, 0, &filed);
	assert_true(place_set_has(filing_in_domain(filing, 0), 0));
	assert_true(place_set_has(filing_in_domain(filing, 1), 0));
	filed.domain = 1;
	filed.other_domain = FILED_NOWHERE;
	filing_put(filing, 0, &filed);
	assert_false(place_set_has(filing_in_domain(filing, 0), 0));
	assert_true(place_set_has(filing_in_domain(filing, 1), 0));
	filing_free(filing);
}

static void test_changes_are_told_once(void **state)
{
	struct filing *filing = filing_new(3, 1);
	struct filed filed = nothing;

	filing_put(filing, 2, &filed);
	filing_put(filing, 1, &filed);
	assert_int_equal(filing_take_changed(filing), 1);
	assert_int_equal(filing_take_changed(filing), 2);
	assert_int_equal(filing_take_changed(filing), PLACE_SET_NONE);
	filed.due_ns = 5;
	filed.followed = true;
	filing_put(filing, 1, &filed);
	assert_int_equal(filing_take_changed(filing), PLACE_SET_NONE);
	filed.state = IO_BOOST_LAPSED;
	filing_put(filing, 1, &filed);
	assert_int_equal(filing_take_changed(filing), 1);
	filing_put(filing, 1, NULL);
	assert_int_equal(filing_take_changed(filing), 1);
	assert_int_equal(filing_take_changed(filing), PLACE_SET_NONE);
	filing_free(filing);
}

static struct filed any(struct test_random *random)
{
	struct filed filed = {
		.due_ns = test_random_below(random, 30),
		.forget_ns = test_random_below(random, 30),
		.ended = test_random_below(random, 2),
		.followed = test_random_below(random, 2),
		.domain = test_random_below(random, DOMAINS + 1),
		.other_domain = test_random_below(random, DOMAINS + 1),
		.device = test_random_below(random, DEVICES + 1),
		.traits = test_random_below(random, 1u << FILED_TRAITS),
		.state = test_random_below(random, IO_BOOST_LAPSED + 1),
	};

	if (filed.due_ns > 20)
		filed.due_ns = AGENDA_NEVER;
	if (filed.forget_ns > 20)
		filed.forget_ns = AGENDA_NEVER;
	if (filed.domain == DOMAINS)
		filed.domain = FILED_NOWHERE;
	if (filed.other_domain == DOMAINS)
		filed.other_domain = FILED_NOWHERE;
	if (filed.device == DEVICES)
		filed.device = IO_BOOST_NO_DEVICE;
	return filed;
}

static void compare_counts(const struct filing *filing, const struct filed *model)
{
	for (uint32_t trait = 0; trait < FILED_TRAITS; trait++) {
		uint32_t n = 0;

		for (uint32_t place = 0; place < PLACES; place++)
			n += model[place].traits >> trait & 1;
		assert_int_equal(filing_count(filing, trait), n);
	}
	for (uint32_t in = 0; in <= IO_BOOST_LAPSED; in++) {
		uint32_t n = 0;

		for (uint32_t place = 0; place < PLACES; place++)
			n += model[place].followed && model[place].state == in;
		assert_int_equal(filing_count_in(filing, in), n);
	}
}

/* What a walk over all of them would find. */
static void compare(const struct filing *filing, const struct filed *model)
{
	uint64_t next_ns = AGENDA_NEVER;
	uint32_t forget = 0;

	for (uint32_t place = 0; place < PLACES; place++) {
		const struct filed *filed = &model[place];

		if (filed->due_ns < next_ns)
			next_ns = filed->due_ns;
		if (filed->forget_ns < model[forget].forget_ns)
			forget = place;
		assert_int_equal(place_set_has(filing_ended(filing), place), filed->ended);
		for (uint32_t i = 0; i < DOMAINS; i++)
			assert_int_equal(place_set_has(filing_in_domain(filing, i), place),
					 filed->domain == i || filed->other_domain == i);
		for (uint32_t i = 0; i < DEVICES; i++)
			assert_int_equal(place_set_has(filing_on_device(filing, i), place),
					 filed->device == i);
	}
	assert_int_equal(filing_next_ns(filing), next_ns);
	if (model[forget].forget_ns != AGENDA_NEVER)
		assert_int_equal(filing_to_forget(filing, model[forget].forget_ns), forget);
	compare_counts(filing, model);
}

static void test_against_model(void **state)
{
	struct filing *filing = filing_new(PLACES, DOMAINS);
	struct test_random random = { 17 };
	struct filed model[PLACES];

	for (uint32_t place = 0; place < PLACES; place++)
		model[place] = nothing;
	for (int n = 0; n < 20000; n++) {
		uint32_t place = test_random_below(&random, PLACES);

		model[place] = test_random_below(&random, 4) ? any(&random) : nothing;
		filing_put(filing, place,
			   memcmp(&model[place], &nothing, sizeof(nothing)) ? &model[place] : NULL);
		if (n % 10 == 0)
			compare(filing, model);
	}
	filing_free(filing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asked_once),    cmocka_unit_test(test_forgotten_in_turn),
		cmocka_unit_test(test_two_domains),   cmocka_unit_test(test_changes_are_told_once),
		cmocka_unit_test(test_against_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
