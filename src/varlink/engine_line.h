/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What the engine decided, and what it knows of a task, as objects of io.wakegov.varlink on one
 * line. A decision is written when monitors, Decisions, Explain or the archive want it, and
 * recordings give the same. It begins with the
 * domain and its times, which archive_parse() finds without a JSON parser.
 */

#include "core/engine.h"
#include "varlink/reply.h"

/* The name of a thread; `known` may be "". As process_name() of the daemon. */
typedef const char *line_name_t(uint32_t pid, const char *known,
				char buffer[static TASK_COMM_SIZE]);

/* What a decision's line says that is not in the decision. Borrowed. */
struct line_facts {
	const struct topology *topology;
	const struct explanation *rests_on;
	uint64_t realtime_us;	  /* 0: not known */
	uint32_t read_back_khz;	  /* 0: not known */
	const char *device;	  /* of the I/O that won, by its name; NULL: not known */
	const char *power_source; /* of the powers by which an OPP was skipped; NULL: not known */
	line_name_t *ask;	  /* for tasks without a name; NULL: they have none */
};

void engine_line_put_decision(struct json_out *out, const struct decision *decision,
			      const struct line_facts *facts);

/* Who a demand is of, as the fields pid, comm and chain, which is of the type Chain. */
void engine_line_put_contender(struct json_out *out, const struct contender *contender,
			       line_name_t *ask);

/* A task with I/O, of the type Task; device: the name of its device, or NULL. */
void engine_line_put_task(struct json_out *out, const struct engine *engine,
			  const struct io_task *task, const char *device, uint64_t now_ns);
