/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A decision's line as wakegovd writes it, with made-up values that differ as those of a machine.
 */

#include <inttypes.h>
#include <stdio.h>

#define MADE_LINE_SIZE 2048

static inline void made_line(char ret[static MADE_LINE_SIZE], const char *domain, uint64_t now_us,
			     uint64_t realtime_us, uint32_t khz)
{
	uint32_t cap = (uint32_t)(now_us / 7 % 1024), pid = khz % 977;

	snprintf(
		ret, MADE_LINE_SIZE,
		"{\"domain\":\"%s\",\"monotonic_us\":%" PRIu64 ",\"realtime_us\":%" PRIu64
		",\"reason\":\"io-boost\",\"limiter\":\"none\",\"timing\":\"now\",\"previous_khz\":"
		"400000,\"wanted_khz\":%u,\"target_khz\":%u,\"read_back_khz\":%u,\"demand_cap\":%u,"
		"\"cpu\":%u,\"pid\":%u,\"comm\":\"postgres\",\"capped_pid\":null,\"n_contenders\":3,"
		"\"contenders\":[{\"reason\":\"io-boost\",\"cpu\":%u,\"pid\":%u,\"comm\":\"postgres\","
		"\"chain\":null,\"demand_cap\":%u,\"demand_khz\":%u},{\"reason\":\"utilisation\","
		"\"cpu\":1,\"pid\":null,\"comm\":null,\"chain\":null,\"demand_cap\":%u,\"demand_khz\":"
		"%u}],\"rule\":null,\"io\":{\"state\":\"pays\",\"device\":\"nvme0n1\",\"io_rate_per_s\":%u,"
		"\"host_share_permille\":612,\"predicted_gain_permille\":463,"
		"\"measured_gain_permille\":411,\"gain_error_permille\":12,\"pairs\":14,\"wanted_khz\":"
		"2400000},\"clamps\":[{\"by\":\"scaling-min\",\"khz\":400000,\"override\":null,"
		"\"acted\":false},{\"by\":\"scaling-max\",\"khz\":2400000,\"override\":null,"
		"\"acted\":false}],\"skipped\":null}",
		domain, now_us, realtime_us, khz, khz, khz, cap, cap % 4, pid, cap % 4, pid, cap,
		khz + cap, cap / 2, khz / 2 + cap, 20000 + cap);
}
