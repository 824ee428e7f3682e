/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A made-up /sys/devices/system/cpu, in a mount namespace of the test's own: libcpupower's paths
 * are fixed, so the tree must lie where it looks. The main() that mounts it is with it.
 */

#include "fake-files.h"

#include <stdio.h>
#include <stdlib.h>

#define FAKE_CPU "/sys/devices/system/cpu"

/* An empty tree. For use as a test's set-up, too: state may be NULL. */
int fake_reset(void **state);

/* Writes a line into PATH below FAKE_CPU, its folders made. */
#define fake_write fake_file

/* Whether the first line of PATH below FAKE_CPU is `expected`; shows both if it is not. */
void fake_assert(const char *path, const char *expected);

/*
 * policyN with the CPUs first…last: schedutil, 400 to 1800 MHz, a table, the links from cpuN. Each
 * of its files can be written over afterwards.
 */
void fake_policy(uint32_t first, uint32_t last);

/* Puts a folder where PATH was, so that opening it for writing fails. */
void fake_break(const char *path);

/* A run directory on a tmpfs of its own, of size bytes ("64k"); empty. */
const char *fake_run_dir(const char *size);

/* Leaves no room in it, and gives the room back. */
void fake_fill(const char *directory);
void fake_empty(const char *directory);
