// SPDX-License-Identifier: GPL-2.0-only
/* The tests of a program, collected before its main(). */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TESTS_MAX 64

static struct CMUnitTest tests[TESTS_MAX];
static size_t n_tests;

void tests_add(struct CMUnitTest test)
{
	if (n_tests == TESTS_MAX)
		abort();
	tests[n_tests++] = test;
}

char *test_read(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	/* Up to a NUL, which no file has. */
	assert_true(getdelim(&text, &size, '\0', file) > 0);
	assert_int_equal(fclose(file), 0);
	return text;
}

void test_write_bytes(const char *path, const void *bytes, size_t n)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

void test_write(const char *path, const char *text)
{
	test_write_bytes(path, text, strlen(text));
}

int tests_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	return _cmocka_run_group_tests("tests", tests, n_tests, set_up, tear_down);
}

__attribute__((weak)) int main(void)
{
	return tests_run(NULL, NULL);
}
