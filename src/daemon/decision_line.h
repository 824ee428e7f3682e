/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The one form of a decision: a JSON object of the type Decision in io.wakegov.varlink, on one
 * line. It is written when a target changes; the ring in memory, monitors, Decisions, Explain and
 * the archive pass this text on. It begins with the domain and its times, which archive_parse()
 * finds without a JSON parser.
 */

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

/* Who a demand is of, as the fields pid, comm and chain, which is of the type Chain. */
void decision_line_put_contender(struct json_out *out, const struct contender *contender,
				 bool ask_names);

/* Converts the saved share of an I/O's time to a gain of throughput: X' / X − 1 = u / (1 − u). */
uint32_t decision_line_gain_permille(uint32_t saved_ppm);
