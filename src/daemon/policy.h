/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/state.h"

/* Gives every subsystem a new policy. The caller makes a round after it. */
void policy_put_into_effect(struct manager *manager, const struct policy *policy);
