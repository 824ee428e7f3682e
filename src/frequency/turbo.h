/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What an Intel CPU says of its highest frequencies in its model-specific registers, by the rules
 * of arch/x86/kernel/cpu/aperfmperf.c, so that utilisation means here what it means to the
 * scheduler.
 */

#include <stdint.h>

/* Fills *ret with the register's value. Returns 0 or a negative errno: there is no such register.
 */
typedef int (*turbo_read_t)(void *userdata, uint32_t reg, uint64_t *ret);

struct turbo {
	uint32_t base_khz;
	uint32_t one_khz;  /* with one core at work; 0: not known */
	uint32_t four_khz; /* with four, where that is told apart; else with one */
};

/*
 * Reads and decodes the registers of an Intel CPU of family 6. Returns 0; -ENODATA with *ret_why a
 * static phrase: they say nothing, or nothing that can be; another negative errno: not readable. A
 * turbo that the firmware has switched off is one at the base frequency.
 */
int turbo_decode(uint32_t model, turbo_read_t read, void *userdata, struct turbo *ret,
		 const char **ret_why);
