/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Results as CSV, or as a table for people. */

#include <stdio.h>

#include "sim/result.h"

void output_csv_header(FILE *out, const struct platform *platform);
void output_csv(FILE *out, const struct platform *platform, const struct result *result);
void output_table_header(FILE *out, const struct platform *platform);
void output_table(FILE *out, const struct platform *platform, const struct result *result);
/* What else the model knows: a line per device and, for the first of them, per thread. */
void output_details(FILE *out, const struct platform *platform, const struct result *result);
