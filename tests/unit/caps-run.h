/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Caps for test-core-properties, which loads this as a library: a domain of four busy CPUs, whose
 * tasks match some of four rules (caps of 30, 45 and 60 %, a floor of 50 %).
 */

#include <stdbool.h>
#include <stdint.h>

struct caps_run_task {
	uint32_t cpu;	  /* 0…3 */
	uint32_t matched; /* bits 0…2: the caps; bit 3: the floor */
	uint32_t counts;  /* its bursts are long */
};

/* The OPP in kHz that the domain is given when they run all at once: 400 MHz to 2 GHz by 200. */
uint32_t caps_run_target_khz(const struct caps_run_task *tasks, uint32_t n_tasks);
