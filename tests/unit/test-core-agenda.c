// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "core/agenda.h"

#define PLACES 200

static void test_order(void **state)
{
	static const uint64_t at_ns[] = { 50, 10, 40, 10, 30, 20 };
	static const uint32_t order[] = { 1, 3, 5, 4, 2, 0 };
	struct agenda *agenda = agenda_new(6);

	assert_int_equal(agenda_first(agenda), AGENDA_NONE);
	assert_int_equal(agenda_first_ns(agenda), AGENDA_NEVER);
	for (uint32_t place = 0; place < 6; place++)
		agenda_set(agenda, place, at_ns[place]);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(agenda_first(agenda), order[i]);
		assert_int_equal(agenda_first_ns(agenda), at_ns[order[i]]);
		agenda_set(agenda, order[i], AGENDA_NEVER);
	}
	assert_int_equal(agenda_first(agenda), AGENDA_NONE);
	assert_null(agenda_free(agenda));
}

/* Whatever order they came in. */
static void test_ties(void **state)
{
	struct test_random random = { 3 };

	for (int n = 0; n < 100; n++) {
		struct agenda *agenda = agenda_new(PLACES);

		for (uint32_t i = 0; i < 4 * PLACES; i++)
			agenda_set(agenda, test_random_below(&random, PLACES), 7);
		for (uint32_t place = 0; place < PLACES; place++)
			agenda_set(agenda, place, 7);
		for (uint32_t place = 0; place < PLACES; place++) {
			assert_int_equal(agenda_first(agenda), place);
			agenda_set(agenda, place, AGENDA_NEVER);
		}
		agenda_free(agenda);
	}
}

static void test_move(void **state)
{
	struct agenda *agenda = agenda_new(3);

	agenda_set(agenda, 0, 10);
	agenda_set(agenda, 1, 20);
	agenda_set(agenda, 2, 0); /* due since ever */
	assert_int_equal(agenda_first(agenda), 2);
	agenda_set(agenda, 2, 30);
	assert_int_equal(agenda_first(agenda), 0);
	agenda_set(agenda, 0, AGENDA_NEVER - 1);
	assert_int_equal(agenda_first(agenda), 1);
	agenda_set(agenda, 1, AGENDA_NEVER);
	agenda_set(agenda, 1, AGENDA_NEVER);
	assert_int_equal(agenda_first(agenda), 2);
	assert_int_equal(agenda_first_ns(agenda), 30);
	agenda_free(agenda);
}

/* What is first, by a look at all of them. */
static uint32_t first_of(const uint64_t *at_ns)
{
	uint32_t first = AGENDA_NONE;

	for (uint32_t place = 0; place < PLACES; place++)
		if (at_ns[place] != AGENDA_NEVER &&
		    (first == AGENDA_NONE || at_ns[place] < at_ns[first]))
			first = place;
	return first;
}

static void test_against_model(void **state)
{
	struct agenda *agenda = agenda_new(PLACES);
	struct test_random random = { 11 };
	uint64_t at_ns[PLACES];

	memset(at_ns, 0xff, sizeof(at_ns));
	for (int n = 0; n < 200000; n++) {
		uint32_t place = test_random_below(&random, PLACES), first;

		/* Few moments, so that there are many ties; in turns more come or more go. */
		at_ns[place] = test_random_below(&random, 10) < (n / 2000 % 2 ? 3 : 8)
				       ? test_random_below(&random, 50)
				       : AGENDA_NEVER;
		agenda_set(agenda, place, at_ns[place]);
		first = first_of(at_ns);
		assert_int_equal(agenda_first(agenda), first);
		assert_int_equal(agenda_first_ns(agenda),
				 first == AGENDA_NONE ? AGENDA_NEVER : at_ns[first]);
	}
	agenda_free(agenda);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_move),
		cmocka_unit_test(test_against_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
