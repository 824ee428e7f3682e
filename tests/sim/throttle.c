// SPDX-License-Identifier: GPL-2.0-only
#include "sim/throttle.h"

#define NS_PER_S 1000000000ULL
#define SLICE_NS (NS_PER_S / 10)

uint64_t sim_throttle_take(struct sim_throttle *throttle, uint32_t limit_per_s, uint64_t now_ns)
{
	uint64_t room = limit_per_s * SLICE_NS, slices;

	if (now_ns >= throttle->slice_ns + SLICE_NS || !throttle->slice_ns)
		*throttle = (struct sim_throttle){ .slice_ns = now_ns, .left = room };
	if (throttle->left < NS_PER_S) {
		slices = (NS_PER_S - throttle->left + room - 1) / room;
		throttle->slice_ns += slices * SLICE_NS;
		throttle->left += slices * room;
	}
	throttle->left -= NS_PER_S;
	return throttle->slice_ns > now_ns ? throttle->slice_ns : now_ns;
}
