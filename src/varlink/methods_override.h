/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Methods of io.wakegov, as varlink/interface.h wants them. */

#include "varlink/call.h"
#include "varlink/reply.h"

int methods_list_overrides(const struct call *call, struct reply *reply);
int methods_add_override(const struct call *call, struct reply *reply);
int methods_cancel_override(const struct call *call, struct reply *reply);
