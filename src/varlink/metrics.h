/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * io.wakegov.Metrics: what the daemon counts, as text for a monitoring system. How many series
 * there are is bounded by the machine: some per domain, and one per domain and OPP. Tasks are
 * counted by state, not named.
 */

#include "varlink/call.h"
#include "varlink/reply.h"

enum metrics_format {
	METRICS_OPENMETRICS, /* OpenMetrics 1.0 */
	METRICS_PROMETHEUS,  /* Prometheus' text format 0.0.4, as node_exporter reads files */
};

/*
 * Appends the text, with a NUL, to output. Returns 0, -EMSGSIZE, -ENOMEM or what the source
 * returned.
 */
int metrics_write(const struct query_source *source, enum metrics_format format,
		  struct buffer *output);

/* The method. */
int metrics_show(const struct call *call, struct reply *reply);
