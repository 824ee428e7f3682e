/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Loop devices of the tests' own: over a file in memory they are disks at the bottom. */

struct loop {
	char path[64]; /* of its file in memory */
	char name[32]; /* below /sys/block */
	int file;      /* what is behind it */
	int device;    /* open for direct reading */
	int partition; /* likewise, or -1 */
};

/* Over an open file, which stays the caller's, or over one in memory for -1. Fails the test. */
void loop_new(struct loop *ret, int file);
/* Its second half, as a partition. */
void loop_add_partition(struct loop *loop);
/* Detaches it: the disk is there, and has nothing in it. */
void loop_end(struct loop *loop);
