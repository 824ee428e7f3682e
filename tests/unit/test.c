// SPDX-License-Identifier: GPL-2.0-only
/* The tests of a program, collected before its main(). */
#include "test.h"

#include <stdlib.h>

#define TESTS_MAX 64

static struct CMUnitTest tests[TESTS_MAX];
static size_t n_tests;

void tests_add(struct CMUnitTest test)
{
	if (n_tests == TESTS_MAX)
		abort();
	tests[n_tests++] = test;
}

int tests_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	return _cmocka_run_group_tests("tests", tests, n_tests, set_up, tear_down);
}

__attribute__((weak)) int main(void)
{
	return tests_run(NULL, NULL);
}
