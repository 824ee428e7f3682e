/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Failures in words, on standard error: what, why, what to do next. */

#include <jansson.h>

#include "ctl/exit.h"

/* Why connection_open() gave error. */
enum ctl_exit explain_open(const char *path, int error);

/* Why connection_call() gave error. */
enum ctl_exit explain_call(const char *path, int error);

/* What the daemon's error reply to the command says. */
enum ctl_exit explain_refusal(const char *command, const json_t *reply);
