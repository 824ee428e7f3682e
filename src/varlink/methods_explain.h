/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* io.wakegov.Explain, as varlink/interface.h wants it. */

#include "varlink/call.h"
#include "varlink/reply.h"

int methods_explain(const struct call *call, struct reply *reply);
