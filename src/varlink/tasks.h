/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* io.wakegov.Tasks: chosen, sorted, and a page of them. */

#include "varlink/call.h"
#include "varlink/reply.h"

int tasks_list(const struct call *call, struct reply *reply);
