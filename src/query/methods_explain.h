/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* io.wakegov.Explain, as query/interface.h wants it. */

#include "query/call.h"
#include "query/reply.h"

int methods_explain(const struct call *call, struct reply *reply);
