// SPDX-License-Identifier: GPL-2.0-only
#include "test-actuator-saved.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/cleanup.h"

#define POLICY0 CONTROL_DIRECTORY "/policy0/"

static void test_round_trip(void **state)
{
	struct saved_values *saved = open_with(0, 0);
	const struct saved_value *found;
	char text[4096], expected[4096];

	assert_int_equal(saved_add(saved, two, 2, NULL, 0), 0);
	assert_int_equal(saved_add(saved, &third, 1, &rate_limit, 1), 0);
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

	saved = open_with(3, 1);
	found = saved_find(saved, 0, CONTROL_SETSPEED);
	assert_non_null(found);
	assert_string_equal(found->value, "600000");
	assert_string_equal(found->put, SAVED_ANY);
	assert_null(saved_find(saved, 1, CONTROL_GOVERNOR));
	assert_memory_equal(saved_find_tunable(saved, &rate_limit), &rate_limit,
			    sizeof(rate_limit));

	saved_drop(saved, 0, CONTROL_GOVERNOR);
	saved_drop(saved, 0, CONTROL_SETSPEED);
	assert_int_equal(saved_save(saved), 0);
	saved_free(saved);
	saved = open_with(1, 1);
	saved_drop(saved, 12, CONTROL_GOVERNOR);
	saved_drop_tunable(saved, 0);
	assert_int_equal(saved_save(saved), 0);
	saved_free(saved);
	assert_int_equal(read_file(text), 0);
}

/* A crash between acquiring twice: what was there first stands, unless it is not ours any more. */
static void test_first_value_stands(void **state)
{
	const struct saved_value again = { 12, CONTROL_GOVERNOR, "userspace", "powersave" };
	const struct saved_value theirs = { 12, CONTROL_GOVERNOR, "performance", "userspace" };
	struct saved_values *saved = open_with(0, 0);

	assert_int_equal(saved_add(saved, &third, 1, NULL, 0), 0);
	assert_int_equal(saved_add(saved, &again, 1, NULL, 0), 0);
	assert_int_equal(saved->n, 1);
	assert_string_equal(saved->entries[0].value, "schedutil");
	assert_string_equal(saved->entries[0].put, "powersave");
	assert_int_equal(saved_add(saved, &theirs, 1, NULL, 0), 0);
	assert_int_equal(saved->n, 1);
	assert_string_equal(saved->entries[0].value, "performance");
	saved_free(saved);
}

static void test_first_tunable_stands(void **state)
{
	struct saved_values *saved = open_with(0, 0);
	struct tunable again = rate_limit, own = rate_limit;

	assert_int_equal(saved_add(saved, two, 2, &rate_limit, 1), 0);
	strcpy(again.value, "15");
	assert_int_equal(saved_add(saved, two, 2, &again, 1), 0);
	assert_int_equal(saved->n_tunables, 1);
	assert_string_equal(saved->tunables[0].value, "7777");

	/* It could not be put back, and still has the default: then has something else. */
	strcpy(saved->tunables[0].put, "15");
	assert_int_equal(saved_add(saved, two, 2, &again, 1), 0);
	assert_string_equal(saved->tunables[0].value, "7777");
	strcpy(again.value, "500");
	assert_int_equal(saved_add(saved, two, 2, &again, 1), 0);
	assert_string_equal(saved->tunables[0].value, "500");

	own.policy = 0;
	assert_int_equal(saved_add(saved, two, 2, &own, 1), 0);
	assert_int_equal(saved->n_tunables, 2);
	saved_free(saved);
}

static void test_awaits_governor(void **state)
{
	struct saved_value entries[] = { third, two[1] };
	struct tunable own = rate_limit, other = rate_limit;
	const struct saved_values table = { .n = 2, .entries = entries };

	assert_true(saved_awaits_governor(&table, &rate_limit));
	own.policy = 12;
	assert_true(saved_awaits_governor(&table, &own));
	own.policy = 0;
	assert_false(saved_awaits_governor(&table, &own));
	strcpy(other.governor, "ondemand");
	assert_false(saved_awaits_governor(&table, &other));
}

static void test_full_disk_keeps_the_file(void **state)
{
	struct saved_values *saved = open_with(0, 0);
	char before[4096], after[4096];

	assert_int_equal(saved_add(saved, two, 2, NULL, 0), 0);
	read_file(before);
	fake_fill(run_dir);
	assert_int_equal(saved_add(saved, &third, 1, &rate_limit, 1), -ENOSPC);
	assert_int_equal(saved->n, 2);
	assert_int_equal(saved->n_tunables, 0);
	read_file(after);
	assert_string_equal(before, after);

	fake_empty(run_dir);
	assert_int_equal(saved_add(saved, &third, 1, &rate_limit, 1), 0);
	saved_free(saved);
	saved_free(open_with(3, 1));
}

/* A temporary file of a run that crashed, or a trap: it is neither followed nor in the way. */
static void test_left_over_temporary(void **state)
{
	struct saved_values *saved = open_with(0, 0);
	char path[128];
	struct stat st;

	path_of(SAVED_FILE ".new", path);
	assert_int_equal(symlink("/run/target", path), 0);
	assert_int_equal(saved_add(saved, two, 2, NULL, 0), 0);
	assert_int_equal(lstat("/run/target", &st), -1);
	assert_int_equal(lstat(path, &st), -1);
	saved_free(saved);
	saved_free(open_with(2, 0));
}

/* 256 policies with all their controls, as many CPUs, and four tunables each. */
static void add_256(struct saved_values *saved, uint32_t first)
{
	static struct saved_value entries[256 * (CONTROL_RESUME_LATENCY + 1)];
	static struct tunable tunables[256 * 4];

	for (uint32_t i = 0; i < ARRAY_SIZE(entries); i++)
		entries[i] = (struct saved_value){ first + i % 256, i / 256, "1234567890",
						   "1234567890" };
	for (uint32_t i = 0; i < ARRAY_SIZE(tunables); i++) {
		tunables[i] = (struct tunable){ first + i / 4, "fifteen-letters", "",
						"1234567890123456789012345678901",
						"1234567890123456789012345678901" };
		snprintf(tunables[i].name, sizeof(tunables[i].name),
			 "thirty_one_letters_of_a_name__%u", i % 4);
	}
	assert_int_equal(
		saved_add(saved, entries, ARRAY_SIZE(entries), tunables, ARRAY_SIZE(tunables)), 0);
}

/* Everything at its longest still makes a file that is not too long to be read. */
static void test_full_table(void **state)
{
	struct saved_values *saved;

	run_dir = fake_run_dir("8m");
	saved = open_with(0, 0);
	for (uint32_t policy = 0; policy < 1024; policy += 256)
		add_256(saved, policy);
	assert_int_equal(saved_add(saved, &third, 1, NULL, 0), -E2BIG);
	assert_int_equal(saved_add(saved, NULL, 0, &rate_limit, 1), -E2BIG);
	saved_free(saved);
	saved_free(open_with(SAVED_CONTROLS_MAX, SAVED_TUNABLES_MAX));
}

/* Else one odd name would keep the whole file from being read. */
static void test_unreadable_value(void **state)
{
	const struct saved_value odd = { .control = CONTROL_GOVERNOR,
					 .value = "powersa+0",
					 .put = "userspace" };
	struct saved_values *saved = open_with(0, 0);

	assert_int_equal(saved_add(saved, &odd, 1, NULL, 0), -EINVAL);
	assert_int_equal(saved->n, 0);
	saved_free(saved);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),
		TEST(test_first_value_stands),
		TEST(test_first_tunable_stands),
		TEST(test_awaits_governor),
		TEST(test_full_disk_keeps_the_file),
		TEST(test_left_over_temporary),
		TEST(test_unreadable_value),
		TEST(test_full_table),
	};

	fake_enter_or_skip();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
