/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A folder of files of the test's own, as a /sys or a /proc. */

#include "test.h"

/* The folder; set by the set-up, gone after the tear-down, which are a test's. */
extern char fake_root[64];

int fake_files_set_up(void **state);
int fake_files_tear_down(void **state);
#define FILES_TEST(name) TEST_WITH(name, fake_files_set_up, fake_files_tear_down)

/* Writes a line into a file below it, its folders made. */
__attribute__((format(printf, 2, 3))) void fake_file(const char *path, const char *format, ...);
void fake_file_remove(const char *path);
