/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/state.h"

/* The policy is this one from now on: every subsystem is told. A round is to follow. */
void policy_put_into_effect(struct manager *manager, const struct policy *policy);
