/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The command line of wakegovctl, by the table of commands. */

#include "ctl/command.h"

/*
 * Fills ret, which borrows from argv and has its defaults set. General options may stand before and
 * after the command's name. Returns 1 to go on, else minus the exit code: help was printed, or the
 * mistake was told.
 */
int arguments_parse(int argc, char **argv, struct ctl *ret);
