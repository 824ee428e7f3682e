/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One reply of io.wakegov.Explain in words; lines of at most 80 characters. */

#include <jansson.h>
#include <stdio.h>

void explain_print(FILE *file, const json_t *reply);
