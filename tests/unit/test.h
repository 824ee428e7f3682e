/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A test is TEST(test_name) { … } with the argument `state`: a program runs all that it has, in
 * their order, and no list repeats them.
 */

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* With its own set-up and tear-down; NULL: none. */
#define TEST_WITH(name, set_up, tear_down)                                                 \
	static void name(void **state);                                                    \
	__attribute__((constructor)) static void name##_listed(void)                       \
	{                                                                                  \
		tests_add((struct CMUnitTest)cmocka_unit_test_setup_teardown(name, set_up, \
									     tear_down));  \
	}                                                                                  \
	static void name(void **state)

/* As between two tests, for a test of several cases. */
#define RENEW() (tear_down(NULL), set_up(NULL))

void tests_add(struct CMUnitTest test);

/* The text of a file, allocated, NUL-terminated; NULL: there is none. */
char *test_read(const char *path);
/* Writes bytes, or a text, into a file. */
void test_write_bytes(const char *path, const void *bytes, size_t n);
void test_write(const char *path, const char *text);

/*
 * For the main() of a program that does something before its tests; others need none. Either
 * function, for all of the tests together, may be NULL.
 */
int tests_run(CMFixtureFunction set_up, CMFixtureFunction tear_down);
