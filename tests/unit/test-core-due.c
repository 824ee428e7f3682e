// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "core/due.h"

static const struct due_key nothing = {
	.due_ns = DUE_NEVER,
	.forget_ns = DUE_NEVER,
	.domain = DUE_NOWHERE,
	.other_domain = DUE_NOWHERE,
	.device = DUE_NOWHERE,
	.group = DUE_NOWHERE,
};

static void test_asked_once(void **state)
{
	struct due *due = due_new(4);
	struct due_key key = nothing;

	for (uint32_t place = 0; place < 4; place++) {
		key.due_ns = place < 3 ? 40 - 10 * place : 100;
		due_set(due, place, &key);
	}
	assert_int_equal(due_next_ns(due), 20);
	/* Those of 30 and 20, in the order of places. */
	due_ask(due, 30);
	assert_int_equal(due_find(due, DUE_ASKED, 0, 0), 1);
	assert_int_equal(due_find(due, DUE_ASKED, 0, 2), 2);
	assert_int_equal(due_find(due, DUE_ASKED, 0, 3), DUE_NONE);
	assert_int_equal(due_next_ns(due), 40);
	/* One that stays due is not asked again until it is said to be done. */
	key.due_ns = 25;
	due_set(due, 1, &key);
	assert_int_equal(due_next_ns(due), 40);
	due_end_asked(due, 1);
	due_set(due, 1, &key);
	assert_int_equal(due_find(due, DUE_ASKED, 0, 0), 2);
	assert_int_equal(due_next_ns(due), 25);
	/* One that is gone is not asked any more. */
	due_set(due, 2, NULL);
	assert_int_equal(due_find(due, DUE_ASKED, 0, 0), DUE_NONE);
	assert_null(due_free(due));
}

static void test_forgotten_in_turn(void **state)
{
	struct due *due = due_new(3);
	struct due_key key = nothing;

	key.forget_ns = 30;
	due_set(due, 0, &key);
	key.forget_ns = 20;
	due_set(due, 2, &key);
	assert_int_equal(due_next_ns(due), DUE_NEVER); /* nobody is woken for it */
	assert_int_equal(due_to_forget(due, 19), DUE_NONE);
	assert_int_equal(due_to_forget(due, 20), 2);
	due_set(due, 2, NULL);
	assert_int_equal(due_to_forget(due, 29), DUE_NONE);
	assert_int_equal(due_to_forget(due, 30), 0);
	due_free(due);
}

/* It asks both domains that it moves between, and then only the other one, as its own. */
static void test_two_domains(void **state)
{
	struct due *due = due_new(1);
	struct due_key key = nothing;

	key.domain = 0;
	key.other_domain = 1;
	due_set(due, 0, &key);
	assert_int_equal(due_find(due, DUE_IN_DOMAIN, 0, 0), 0);
	assert_int_equal(due_find(due, DUE_IN_DOMAIN, 1, 0), 0);
	key.domain = 1;
	key.other_domain = DUE_NOWHERE;
	due_set(due, 0, &key);
	assert_int_equal(due_find(due, DUE_IN_DOMAIN, 0, 0), DUE_NONE);
	assert_int_equal(due_find(due, DUE_IN_DOMAIN, 1, 0), 0);
	due_free(due);
}

static void test_changes_are_told_once(void **state)
{
	struct due *due = due_new(3);
	struct due_key key = nothing;

	due_set(due, 2, &key);
	due_set(due, 1, &key);
	assert_int_equal(due_take_changed(due), 1);
	assert_int_equal(due_take_changed(due), 2);
	assert_int_equal(due_take_changed(due), DUE_NONE);
	key.due_ns = 5;
	key.followed = true;
	due_set(due, 1, &key);
	assert_int_equal(due_take_changed(due), DUE_NONE);
	key.state = IO_BOOST_LAPSED;
	due_set(due, 1, &key);
	assert_int_equal(due_take_changed(due), 1);
	/* The last one, too, of which nothing is left. */
	due_set(due, 2, NULL);
	assert_int_equal(due_take_changed(due), 2);
	assert_int_equal(due_take_changed(due), DUE_NONE);
	due_free(due);
}

static void test_traits(void **state)
{
	struct due *due = due_new(3);
	struct due_key key = nothing;

	key.traits = 1u << DUE_LIVE | 1u << DUE_NEW;
	key.state = IO_BOOST_LAPSED;
	due_set(due, 0, &key);
	key.traits = 1u << DUE_LIVE;
	key.followed = true;
	due_set(due, 1, &key);
	due_set(due, 2, &key);
	due_set(due, 2, NULL);
	assert_true(due_has(due, 1u << DUE_NEW));
	assert_true(due_has(due, 1u << DUE_LIVE | 1u << DUE_ASKS));
	assert_false(due_has(due, 1u << DUE_ASKS));
	due_set(due, 0, NULL);
	assert_false(due_has(due, 1u << DUE_NEW));
	assert_int_equal(due_count_in(due, IO_BOOST_LAPSED), 1);
	due_free(due);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asked_once),  cmocka_unit_test(test_forgotten_in_turn),
		cmocka_unit_test(test_two_domains), cmocka_unit_test(test_changes_are_told_once),
		cmocka_unit_test(test_traits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
