/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/module.h"

/*
 * What is traced costs each task of the machine some of its time. Where no domain is governed, as
 * without cpufreq, under backend = observe, or after other programs took all of them over, that
 * gains nothing: the BPF programs are attached only while a module needs them, or a client asks for
 * what they measure, and for ten seconds after its last call.
 */

struct watching {
	struct core *core;
	uint64_t until_ns; /* a client asked: it is traced until then … */
	uint64_t since_ns; /* … and since then; 0: it is not */
};

extern const struct module watching_module;

/* A client asks for what is traced now. Attaches the programs, if they are not. */
void watching_ask(struct watching *watching);
