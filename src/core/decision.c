// SPDX-License-Identifier: GPL-2.0-only
#include "core/decision.h"

const char *reason_name(enum reason reason)
{
	static const char *const names[] = {
		[REASON_IDLE] = "idle",		[REASON_UTILISATION] = "utilisation",
		[REASON_IO_BOOST] = "io-boost", [REASON_FLOOR] = "floor",
		[REASON_UNCAPPED] = "uncapped", [REASON_OWN_FLOOR] = "own-floor",
	};

	return names[reason];
}

const char *limiter_name(enum limiter limiter)
{
	static const char *const names[] = {
		[LIMITER_NONE] = "none",
		[LIMITER_POLICY_MIN] = "policy-min",
		[LIMITER_POLICY_MAX] = "policy-max",
		[LIMITER_SCALING_MIN] = "scaling-min",
		[LIMITER_SCALING_MAX] = "scaling-max",
		[LIMITER_OVERRIDE_MIN] = "override-min",
		[LIMITER_OVERRIDE_MAX] = "override-max",
		[LIMITER_FROZEN] = "frozen",
		[LIMITER_CAP] = "cap",
		[LIMITER_OWN_CAP] = "own-cap",
	};

	return names[limiter];
}

const char *timing_name(enum timing timing)
{
	static const char *const names[] = {
		[TIMING_NOW] = "now",
		[TIMING_HELD] = "held",
		[TIMING_RATE_LIMITED] = "rate-limited",
	};

	return names[timing];
}
