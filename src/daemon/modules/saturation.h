/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/manager.h"

/*
 * Where no decision is open, next to no program runs: while every domain is kept at its highest OPP
 * by the work of its CPUs, only the scheduler's ticks are traced. They are counted five times a
 * second, and as soon as a domain has less to do, all is traced again. What was not seen meanwhile:
 * how busy single tasks were, and their I/O.
 */

/*
 * Looks whether it begins or ends; call it after the decisions of a round. Returns when the next
 * round is due for it; UINT64_MAX: not before there is another reason for one.
 */
uint64_t saturation_look(struct manager *manager, uint64_t now_ns);
