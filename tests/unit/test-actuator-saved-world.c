// SPDX-License-Identifier: GPL-2.0-only
#include "test-actuator-saved.h"

#include <string.h>

#include "shared/cleanup.h"

const char *run_dir;
char boot_id[37];

const struct saved_value two[] = {
	SAVED(0, GOVERNOR, "userspace", "userspace"),
	SAVED(0, SETSPEED, "600000", SAVED_ANY),
};
const struct saved_value third = SAVED(12, GOVERNOR, "schedutil", "userspace");

const struct saved_value rate_limit = {
	.path = CONTROL_DIRECTORY "/schedutil/rate_limit_us",
	.value = "7777",
	.ours = SAVED_ANY,
	.control = CONTROL_TUNABLE,
	.policy = CONTROL_SHARED,
};

int set_up(void **state)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%36s", boot_id), 1);
	fclose(file);
	run_dir = fake_run_dir("64k");
	return fake_reset(state);
}

size_t read_file(char ret_text[4096])
{
	_cleanup_free_ char *text = test_read(SAVED_PATH);

	return strlen(strcpy(ret_text, text ?: ""));
}

void assert_opens_with(int expected)
{
	struct saved_values *saved = NULL;

	assert_int_equal(saved_open(run_dir, &saved), expected);
	assert_null(saved);
}

struct saved_values *open_with(size_t n)
{
	struct saved_values *saved = NULL;

	assert_int_equal(saved_open(run_dir, &saved), 0);
	assert_int_equal(saved->n, n);
	return saved;
}

size_t save_three(char ret_text[4096])
{
	struct saved_values *saved = open_with(0);

	assert_int_equal(saved_add(saved, two, 2), 0);
	assert_int_equal(saved_add(saved, &rate_limit, 1), 0);
	saved_free(saved);
	return read_file(ret_text);
}
