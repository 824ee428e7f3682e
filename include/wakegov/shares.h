/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Shares of a table that tasks of several users fill. A user gets a place only while the user holds
 * fewer places than are free. So one user alone gets half of the table, and the next user always
 * finds places. Users with the same remainder of their uid share one count.
 */

#include <linux/types.h>
#include <stdbool.h>

#define WAKEGOV_USERS 1024

struct wakegov_shares {
	__u32 held[WAKEGOV_USERS];
};

static inline __u32 *wakegov_shares_of(struct wakegov_shares *shares, __u32 uid)
{
	return &shares->held[uid % WAKEGOV_USERS];
}

static inline bool wakegov_shares_allow(struct wakegov_shares *shares, __u32 uid, __u32 used,
					__u32 size)
{
	return used < size && *wakegov_shares_of(shares, uid) < size - used;
}
