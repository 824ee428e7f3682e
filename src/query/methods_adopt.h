/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "query/call.h"
#include "query/reply.h"

/* io.wakegov.Adopt */
int methods_adopt(const struct call *call, struct reply *reply);
