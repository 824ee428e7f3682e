/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the tests of the table of saved values and of its file share. */

#include "fake-cpufreq.h"

#include "saved-entry.h"

#define SAVED_PATH   "/run/" SAVED_FILE
#define SAVED_HEADER "wakegov originals 2\n"

extern const char *run_dir;
extern char boot_id[37];

/* Both controls of policy0, a shared tunable of its governor, and policy12's. */
extern const struct saved_value two[2];
extern const struct saved_value third;
extern const struct saved_value rate_limit;

/* An empty tree, an empty run directory. */
int set_up(void **state);

/* The file of saved values: returns its length, 0 without one. */
size_t read_file(char ret_text[4096]);

/* Saves two and rate_limit; returns what the file says then. */
size_t save_three(char ret_text[4096]);

void assert_opens_with(int expected);

/* Asserts that it holds n entries. The caller frees. */
struct saved_values *open_with(size_t n);
