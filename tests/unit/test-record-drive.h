/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* An engine that gets every kind of call in random order, and its recording. */

#include "test-record.h"

/*
 * steps of them on a machine of two domains, with a block every flush_steps, 0: when one is full.
 * Returns how many decisions were made.
 */
uint64_t test_drive(struct test_recording *recording, uint64_t seed, int steps, int flush_steps);

/*
 * The same, but the recording begins after steps_before. Another engine that loads the state of
 * then is told the same, and must decide the same.
 */
uint64_t test_drive_late(struct test_recording *recording, uint64_t seed, int steps_before,
			 int steps);

/*
 * The records of a recording without their frames, and a recording of such bytes behind the head
 * that it has already, as someone would make it on purpose.
 */
size_t test_recording_unpack(const struct test_recording *recording, uint8_t *ret, size_t size);
void test_recording_pack(struct test_recording *recording, const uint8_t *bytes, size_t n);
