// SPDX-License-Identifier: GPL-2.0-only
#include "test-actuator-saved.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/cleanup.h"

#define POLICY0		   CONTROL_DIRECTORY "/policy0/"

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, NULL)

FIXTURE_TEST(test_round_trip)
{
	struct saved_values *saved = open_with(0);
	const struct saved_value *found;
	char text[4096], expected[4096];

	assert_int_equal(saved_add(saved, two, 2), 0);
	assert_int_equal(saved_add(saved, &third, 1), 0);
	assert_int_equal(saved_add(saved, &rate_limit, 1), 0);
	saved_free(saved);

	read_file(text);
	snprintf(expected, sizeof(expected),
		 "wakegov originals 2\nboot %s\n" POLICY0
		 "scaling_governor userspace userspace\n" POLICY0
		 "scaling_setspeed 600000 *\n" CONTROL_DIRECTORY
		 "/policy12/scaling_governor schedutil userspace\n" CONTROL_DIRECTORY
		 "/schedutil/rate_limit_us 7777 *\nend 4\n",
		 boot_id);
	assert_string_equal(text, expected);

	saved = open_with(4);
	found = saved_find(saved, 0, CONTROL_SETSPEED);
	assert_non_null(found);
	assert_string_equal(found->value, "600000");
	assert_string_equal(found->ours, SAVED_ANY);
	assert_null(saved_find(saved, 1, CONTROL_GOVERNOR));
	assert_memory_equal(saved_find_path(saved, rate_limit.path), &rate_limit,
			    sizeof(rate_limit));

	while (saved->n) {
		saved_drop(saved, saved->entries);
		assert_int_equal(saved_save(saved), 0);
	}
	saved_free(saved);
	assert_int_equal(read_file(text), 0);
}

/* A crash between acquiring twice: what was there first stands, unless it is not ours any more. */
FIXTURE_TEST(test_first_value_stands)
{
	const struct saved_value again = SAVED(12, GOVERNOR, "userspace", "powersave");
	const struct saved_value theirs = SAVED(12, GOVERNOR, "performance", "userspace");
	struct saved_values *saved = open_with(0);

	assert_int_equal(saved_add(saved, &third, 1), 0);
	assert_int_equal(saved_add(saved, &again, 1), 0);
	assert_int_equal(saved->n, 1);
	assert_string_equal(saved->entries[0].value, "schedutil");
	assert_string_equal(saved->entries[0].ours, "powersave");
	assert_int_equal(saved_add(saved, &theirs, 1), 0);
	assert_int_equal(saved->n, 1);
	assert_string_equal(saved->entries[0].value, "performance");
	saved_free(saved);
}

FIXTURE_TEST(test_first_tunable_stands)
{
	struct saved_values *saved = open_with(0);
	struct saved_value again = rate_limit, own = rate_limit;

	assert_int_equal(saved_add(saved, &rate_limit, 1), 0);
	strcpy(again.value, "15");
	assert_int_equal(saved_add(saved, &again, 1), 0);
	assert_int_equal(saved->n, 1);
	assert_string_equal(saved->entries[0].value, "7777");

	/* It could not be put back, and still has the default: then has something else. */
	strcpy(saved->entries[0].ours, "15");
	assert_int_equal(saved_add(saved, &again, 1), 0);
	assert_string_equal(saved->entries[0].value, "7777");
	strcpy(again.value, "500");
	assert_int_equal(saved_add(saved, &again, 1), 0);
	assert_string_equal(saved->entries[0].value, "500");

	own = saved_entry_at(CONTROL_DIRECTORY "/policy0/schedutil/rate_limit_us", "1", SAVED_ANY);
	assert_int_equal(saved_add(saved, &own, 1), 0);
	assert_int_equal(saved->n, 2);
	saved_free(saved);
}

FIXTURE_TEST(test_tunable_of)
{
	const struct saved_value own = saved_entry_at(
		CONTROL_DIRECTORY "/policy12/schedutil/rate_limit_us", "1", SAVED_ANY);

	assert_true(saved_is_tunable_of(&rate_limit, 0, "schedutil"));
	assert_false(saved_is_tunable_of(&rate_limit, 0, "sched"));
	assert_false(saved_is_tunable_of(&rate_limit, 0, "ondemand"));
	assert_true(saved_is_tunable_of(&own, 12, "schedutil"));
	assert_false(saved_is_tunable_of(&own, 1, "schedutil"));
	assert_false(saved_is_tunable_of(&third, 12, "schedutil"));
}

FIXTURE_TEST(test_full_disk_keeps_the_file)
{
	struct saved_values *saved = open_with(0);
	char before[4096], after[4096];

	assert_int_equal(saved_add(saved, two, 2), 0);
	read_file(before);
	fake_fill(run_dir);
	assert_int_equal(saved_add(saved, &third, 1), -ENOSPC);
	assert_int_equal(saved->n, 2);
	read_file(after);
	assert_string_equal(before, after);

	fake_empty(run_dir);
	assert_int_equal(saved_add(saved, &third, 1), 0);
	saved_free(saved);
	saved_free(open_with(3));
}

/* Everything at its longest still makes a file that is not too long to be read. */
FIXTURE_TEST(test_full_table)
{
	static struct saved_value entries[SAVED_MAX];
	struct saved_values *saved;
	char path[CONTROL_PATH_SIZE];

	run_dir = fake_run_dir("8m");
	saved = open_with(0);
	for (size_t i = 0; i < SAVED_MAX; i++) {
		snprintf(path, sizeof(path),
			 CONTROL_DIRECTORY
			 "/policy%zu/fifteen-letters/thirty_one_letters_of_a_name_%02zu",
			 i % 1000, i / 1000);
		entries[i] = saved_entry_at(path, "1234567890123456789012345678901",
					    "1234567890123456789012345678901");
	}
	assert_int_equal(saved_add(saved, entries, SAVED_MAX), 0);
	assert_int_equal(saved_add(saved, &third, 1), -E2BIG);
	saved_free(saved);
	saved_free(open_with(SAVED_MAX));
}

/* Else one odd name would keep the whole file from being read. */
FIXTURE_TEST(test_unreadable_value)
{
	const struct saved_value odd = SAVED(0, GOVERNOR, "powersa+0", "userspace");
	struct saved_values *saved = open_with(0);

	assert_int_equal(saved_add(saved, &odd, 1), -EINVAL);
	assert_int_equal(saved->n, 0);
	saved_free(saved);
}
