// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "core/place_set.h"

#define SIZE_MAX_TESTED 20000

static void test_walk(void **state)
{
	static const uint32_t places[] = { 0, 63, 64, 4095, 4096, 19999 };
	struct place_set *set = place_set_new(20000);
	uint32_t i = 0;

	assert_int_equal(place_set_next(set, 0), PLACE_SET_NONE);
	for (uint32_t n = 6; n-- > 0;)
		place_set_add(set, places[n]);
	place_set_for_each(set, place)
		assert_int_equal(place, places[i++]);
	assert_int_equal(i, 6);
	assert_int_equal(place_set_next(set, 20000), PLACE_SET_NONE);
	assert_null(place_set_free(set));
}

/* The one that a walk is at may go, and those that are ahead may come and go. */
static void test_change_on_the_way(void **state)
{
	struct place_set *set = place_set_new(300);
	uint32_t sum = 0;

	place_set_add(set, 5);
	place_set_add(set, 6);
	place_set_add(set, 7);
	place_set_for_each(set, place) {
		sum = sum * 1000 + place;
		place_set_remove(set, place);
		if (place != 5)
			continue;
		place_set_remove(set, 6);
		place_set_remove(set, 6);
		place_set_add(set, 299);
		place_set_add(set, 4); /* behind it */
	}
	assert_int_equal(sum, 5007299);
	assert_int_equal(place_set_next(set, 0), 4);
	assert_true(place_set_has(set, 4));
	assert_false(place_set_has(set, 5));
	place_set_free(set);
}

static void compare(const struct place_set *set, const bool *model, uint32_t size)
{
	uint32_t expected = 0;

	for (; expected < size && !model[expected]; expected++)
		;
	place_set_for_each(set, place) {
		assert_int_equal(place, expected);
		for (expected++; expected < size && !model[expected]; expected++)
			;
	}
	assert_int_equal(expected, size);
}

static void test_against_model(void **state)
{
	static const uint32_t sizes[] = { 1, 63, 64, 65, 4096, 4097, SIZE_MAX_TESTED };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		static bool model[SIZE_MAX_TESTED];
		struct place_set *set = place_set_new(sizes[i]);
		struct test_random random = { 5 + i };

		memset(model, 0, sizeof(model));
		for (int n = 0; n < 20000; n++) {
			uint32_t place = test_random_below(&random, sizes[i]);

			assert_int_equal(place_set_has(set, place), model[place]);
			/* In turns it gets fuller and emptier. */
			model[place] = test_random_below(&random, 10) < (n / 4000 % 2 ? 1 : 8);
			if (model[place])
				place_set_add(set, place);
			else
				place_set_remove(set, place);
			if (n % 200 == 0)
				compare(set, model, sizes[i]);
		}
		place_set_free(set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_change_on_the_way),
		cmocka_unit_test(test_against_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
