/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A recording as a trace for the Perfetto UI (ui.perfetto.dev), in its own protobuf format: for
 * each domain a counter with its frequency and slices with the reasons for it, for each task slices
 * with the state of its boost. Times are CLOCK_MONOTONIC of the recorded machine.
 */

#include <stdio.h>

#include "record/timeline.h"

/*
 * Plays the records of reader, after record_reader_begin(), and writes the trace to out. Returns as
 * timeline_run(); write errors show in ferror(out).
 */
int perfetto_write(struct record_reader *reader, FILE *out, struct timeline *ret);
