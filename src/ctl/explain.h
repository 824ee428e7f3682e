/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One reply of io.wakegov.Explain in words, on standard output. */

#include <jansson.h>

void explain_print(const json_t *reply);
