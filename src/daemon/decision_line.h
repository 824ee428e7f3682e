/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A decision as varlink/engine_line.h writes it, by the daemon. */

#include "core/decision.h"
#include "daemon/core.h"
#include "varlink/reply.h"

#define DECISION_LINE_MAX (16 * 1024)

/*
 * read_back_khz 0: not known. ask_names: names of tasks that are not known are read in /proc, which
 * is for a user's question, not for every decision.
 */
void decision_line_put(struct json_out *out, const struct core *core,
		       const struct decision *decision, const struct explanation *rests_on,
		       uint32_t read_back_khz, bool ask_names);
