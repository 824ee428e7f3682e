// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <stdlib.h>

#include "core/due.h"

static bool is_it(const struct due_key *key, enum due_which which, uint64_t value)
{
	const bool is[] = {
		[DUE_BY] = key->followed && key->at_ns <= value,
		[DUE_TO_FORGET_BY] = !key->followed && key->at_ns <= value,
		/* It asks both domains that it moves between. */
		[DUE_IN_DOMAIN] = key->domain == value || key->other_domain == value,
		[DUE_ON_DEVICE] = key->device == value,
		[DUE_IN_GROUP] = key->group == value,
		[DUE_ENDED] = key->ended,
	};

	return is[which];
}

static uint64_t next_ns(const struct due_key *keys, uint32_t n)
{
	uint64_t next_ns = DUE_NEVER;

	for (uint32_t place = 0; place < n; place++)
		if (keys[place].followed && keys[place].at_ns < next_ns)
			next_ns = keys[place].at_ns;
	return next_ns;
}

/* A search finds what a pass over all keys finds, in tables of any number of blocks. */
TEST(test_as_a_pass_over_all)
{
	static const uint32_t sizes[] = { 1, 15, 16, 17, 255, 256, 257, 5000 };
	static struct due_key keys[5000];

	srandom(1);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct due *due = due_new(sizes[i]);

		for (uint32_t place = 0; place < sizes[i]; place++)
			keys[place] = DUE_NOTHING;
		for (uint32_t turn = 0; turn < 3000; turn++) {
			uint32_t place = random() % sizes[i], found, from;
			enum due_which which = random() % DUE_NEWS;
			uint64_t value = random() % 200;

			keys[place] = DUE_NOTHING;
			if (random() % 4) {
				keys[place].at_ns = random() % 2000;
				keys[place].followed = random() % 2;
				keys[place].domain = random() % 200;
				keys[place].other_domain = random() % 2 ? random() % 200
									: DUE_NOWHERE;
				keys[place].device = random() % 64;
				keys[place].group = random() % 64;
				keys[place].ended = !(random() % 20);
				due_set(due, place, &keys[place]);
			} else {
				due_set(due, place, NULL);
			}
			from = found = random() % sizes[i];
			while (found < sizes[i] && !is_it(&keys[found], which, value))
				found++;
			assert_int_equal(due_find(due, which, value, from),
					 found < sizes[i] ? found : DUE_NONE);
			if (turn % 20 == 0)
				assert_int_equal(due_next_ns(due), next_ns(keys, sizes[i]));
		}
		due_free(due);
	}
}

TEST(test_forgotten_in_turn)
{
	struct due *due = due_new(3);
	struct due_key key = DUE_NOTHING;

	key.at_ns = 30;
	due_set(due, 0, &key);
	key.at_ns = 20;
	due_set(due, 2, &key);
	assert_int_equal(due_next_ns(due), DUE_NEVER); /* nobody is woken for it */
	assert_int_equal(due_to_forget(due, 19), DUE_NONE);
	assert_int_equal(due_to_forget(due, 20), 2);
	due_set(due, 2, NULL);
	assert_int_equal(due_to_forget(due, 29), DUE_NONE);
	assert_int_equal(due_to_forget(due, 30), 0);
	due_free(due);
}

/* As the domains of a machine without cpufreq. */
TEST(test_without_places)
{
	struct due *due = due_new(0);

	assert_int_equal(due_next_ns(due), DUE_NEVER);
	assert_int_equal(due_find(due, DUE_BY, 1, 0), DUE_NONE);
	due_free(due);
}

/* Pops a place, and compares the state that it had before. */
static void assert_popped(struct due *due, uint32_t place, int state_before)
{
	int before;

	assert_int_equal(due_pop_news(due, &before), place);
	if (place != DUE_NONE)
		assert_int_equal(before, state_before);
}

TEST(test_changes_are_told_once)
{
	struct due *due = due_new(3);
	struct due_key key = DUE_NOTHING;

	due_set(due, 2, &key);
	due_set(due, 1, &key);
	assert_popped(due, 1, -1);
	assert_popped(due, 2, -1);
	assert_popped(due, DUE_NONE, 0);
	key.at_ns = 5;
	key.followed = true;
	due_set(due, 1, &key);
	assert_popped(due, DUE_NONE, 0);
	key.state = IO_BOOST_LAPSED;
	due_set(due, 1, &key);
	assert_popped(due, 1, IO_BOOST_MEASURING);
	/* The last one, too, of which nothing is left. */
	due_set(due, 2, NULL);
	assert_popped(due, 2, -1);
	assert_popped(due, DUE_NONE, 0);
	due_free(due);
}

/* What comes to the place of another task is new, also where the first's end was not popped. */
TEST(test_another_task_is_new)
{
	struct due *due = due_new(3);
	struct due_key key = DUE_NOTHING;

	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t place = 0; place < 3; place++) {
			key.state = IO_BOOST_PAYS;
			due_set(due, place, &key);
			key.state = IO_BOOST_TRYING;
			due_set(due, place, &key);
		}
		for (uint32_t place = 0; place < 3; place++)
			assert_popped(due, place, -1);
		key.state = IO_BOOST_LAPSED;
		due_set(due, 1, &key);
		assert_popped(due, 1, IO_BOOST_TRYING);
		for (uint32_t place = 0; place < 3; place++)
			due_set(due, place, NULL);
	}
	due_free(due);
}

TEST(test_traits)
{
	struct due *due = due_new(3);
	struct due_key key = DUE_NOTHING;

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
