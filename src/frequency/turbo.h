/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Decodes the highest frequencies of an Intel CPU from its model-specific registers, by the rules
 * of arch/x86/kernel/cpu/aperfmperf.c, so that utilisation means here what it means to the
 * scheduler.
 */

#include <stdint.h>

/* Reads the register into *ret. Returns 0, or a negative errno if there is no such register. */
typedef int (*turbo_read_t)(void *userdata, uint32_t reg, uint64_t *ret);

struct turbo {
	uint32_t base_khz;
	uint32_t one_khz;  /* with one working core; 0: not known */
	uint32_t four_khz; /* with four if they differ, else with one */
};

/*
 * Reads and decodes the registers of an Intel CPU of family 6. Returns 0; -ENODATA with *ret_why a
 * static phrase if they have no value or an impossible one; or another negative errno if they are
 * not readable. With turbo switched off by firmware the result is the base frequency.
 */
int turbo_decode(uint32_t model, turbo_read_t read, void *userdata, struct turbo *ret,
		 const char **ret_why);
