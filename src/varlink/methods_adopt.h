/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "varlink/call.h"
#include "varlink/reply.h"

/* io.wakegov.Adopt */
int methods_adopt(const struct call *call, struct reply *reply);
