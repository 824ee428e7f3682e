// SPDX-License-Identifier: GPL-2.0-only
#include "test-actuator-saved.h"

const char *run_dir;
char boot_id[ORIGINALS_BOOT_ID_SIZE];

const struct original two[] = {
	{ 0, CONTROL_GOVERNOR, "userspace", "userspace" },
	{ 0, CONTROL_SETSPEED, "600000", ORIGINALS_ANY },
};
const struct original third = { 12, CONTROL_GOVERNOR, "schedutil", "userspace" };

const struct tunable rate_limit = { TUNABLE_SHARED, "schedutil", "rate_limit_us", "7777", "*" };

int set_up(void **state)
{
	run_dir = fake_run_dir("64k");
	return fake_reset(state) < 0 || originals_read_boot_id(boot_id) < 0;
}

void path_of(const char *file, char ret_path[128])
{
	snprintf(ret_path, 128, "%s/%s", run_dir, file);
}

size_t read_file(char ret_text[4096])
{
	char path[128];
	FILE *file;
	size_t n;

	path_of(ORIGINALS_FILE, path);
	file = fopen(path, "r");
	if (!file)
		return 0;
	n = fread(ret_text, 1, 4095, file);
	ret_text[n] = '\0';
	fclose(file);
	return n;
}

void write_file(const char *text, size_t size)
{
	char path[128];
	FILE *file;

	path_of(ORIGINALS_FILE, path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

void assert_opens_with(int expected)
{
	struct originals *originals = NULL;

	assert_int_equal(originals_open(run_dir, &originals), expected);
	assert_null(originals);
}

struct originals *open_with(size_t n, size_t n_tunables)
{
	struct originals *originals = NULL;

	assert_int_equal(originals_open(run_dir, &originals), 0);
	assert_int_equal(originals->n, n);
	assert_int_equal(originals->n_tunables, n_tunables);
	return originals;
}

size_t save_three(char ret_text[4096])
{
	struct originals *originals = open_with(0, 0);

	assert_int_equal(originals_add(originals, two, 2, &rate_limit, 1), 0);
	originals_free(originals);
	return read_file(ret_text);
}
