/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The other end of the machine's network card (lab run --card) asks, by UDP, after pauses by
 * chance, and measures each answer.
 */

#include <stdbool.h>
#include <stdint.h>

/* Has it ask so often, with this mean pause. Exits where there is no card. */
void outside_begin(uint32_t times, uint32_t mean_us);

/* Waits for the next request, which is to be answered. False: that was the last. */
bool outside_await(void);
void outside_answer(void);

/* What was answered of what was asked, in percent, and the median and the 99th percentile in us. */
void outside_print(void);
