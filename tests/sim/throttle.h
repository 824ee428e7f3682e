/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The limit of I/Os a second of a cgroup, io.max's riops or wiops, as block/blk-throttle.c keeps
 * it: per slice of 100 ms (DFL_THROTL_SLICE_HD) as many I/Os may go as the limit has room for, all
 * at once if they come at once; the next one waits for the end of the slice, and those behind it
 * queue up. What a slice leaves unused is gone. A slice begins with the first I/O after the end of
 * the last one.
 */

#include <stdint.h>

struct sim_throttle {
	uint64_t slice_ns; /* when the present slice began, or is to begin */
	uint64_t left;	   /* of its room, in I/Os · ns · 1/s */
};

/* When an I/O that is sent now may go: now_ns or later. */
uint64_t sim_throttle_take(struct sim_throttle *throttle, uint32_t limit_per_s, uint64_t now_ns);
