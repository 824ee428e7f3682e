/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* Whether a learning period is under way, and until when if nothing happens. */
struct tracing_duty {
	bool on;
	uint64_t since_ns; /* when it became on or off; 0: it was never on */
	uint64_t until_ns;
	uint64_t quiet_ns; /* no further period before then, except for tasks that no period has
			      seen */
};

/* No task does I/O. */
#define TRACING_DUTY_NONE ((struct tracing_duty){ .until_ns = UINT64_MAX })

/* Begins or ends a learning period, as the last step of a round, and plans the next check. */
void tracing_duty_update(struct engine *engine, uint64_t now_ns);
uint64_t tracing_duty_next_ns(const struct engine *engine);
