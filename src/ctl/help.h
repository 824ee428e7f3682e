/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "ctl/command.h"

/* On standard output: of one command, or with NULL of all. */
void help_print(const struct ctl_command *command);
