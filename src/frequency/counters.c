// SPDX-License-Identifier: GPL-2.0-only
#include "frequency/counters.h"

#include <stddef.h>

const struct counter_reader *const counter_readers[] = {
	&counter_reader_perf,
	&counter_reader_msr,
	&counter_reader_cppc,
	NULL,
};
