/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The numbers of a boost's experiment (core/experiment.h), each with what doubling it does.
 * tests/bench/regret and the devices of test-core-experiment chose those without a source. The
 * slack of boosts is a key of the policy.
 */

#include "shared/time.h"

/* The test. Its sums and ln E have Q fractional bits, logarithms of rates 20. */
#define Q	    16
#define ONE	    (1LL << Q)
#define ODDS	    30	      /* 1/α of a wrong answer: a fifth more pairs */
#define PRIOR_ODDS  8	      /* a prediction divides ODDS by it: half as many odds needed */
#define RHO	    (2 * ONE) /* E grows fastest at about ten pairs; then at twenty */
#define CLIP	    (3 * ONE) /* of u, so that a pause counts as one pair: outliers count more */
#define OTHERS_CLIP (1 << 17) /* an eighth: a flush in one window counts as one pair */
#define SCALE_START 20972     /* 2 %, unless a larger gain is predicted: small gains take longer */
#define SCALE_MIN   2048      /* 0.2 %: counts are whole numbers */
#define SCALE_MAX   (1 << 20)
#define MEMORY	    16	/* of the scale, in pairs: a change of the noise is followed later */
#define PAIRS_MOST  100 /* until the verdict is "cannot tell": smaller gains are found */
#define FAR_PAIRS   24	/* the same, where far less than predicted is gained … */
#define FAR_LONG    6	/* … and in windows as long as a tick: more small gains are found */
#define SAME_MOST   3	/* pairs at equal levels until there is nothing to ask */
/* Squares of standard deviations, in quarters. */
#define FAINTLY 1  /* a half: by chance once in three */
#define HINT	8  /* √2: once in twelve */
#define CLEARLY 16 /* two: once in forty */

/* A window. A shorter one cancels more drift, a longer one more white noise. */
#define HALF_NS	    (16 * NS_PER_MS)
#define RATE_LIMITS 4  /* at least so many of the domain, to be at its level for most of it */
#define LEAST_IOS   20 /* and so many I/Os: the groups that can be tested are faster */
#define WINDOW_MOST 8  /* but at most so many HALF_NS: slower groups can be tested */
/* After a switch, for requests in flight and two rate limits: not counted. */
#define SETTLE_NS (5 * NS_PER_MS)

/* After an answer. */
#define EVIDENCE_NS (6000 * NS_PER_MS) /* half-life: a change is noticed later */
#define BUDGET_PPM  1200 /* of the boosted rate: changes are noticed sooner, at twice the cost */
#define BUDGET_OFF  5	 /* at most so many times BUDGET_PPM of the time: a pair in 3.5 s */
#define REOPEN	    8 /* … and so many times that for asking again: changes are noticed sooner */
#define KEEP	    (8 * ONE) /* weight of an answer in pairs, against those that refresh it */
#define RECHECKS    2	      /* pairs after one that is in doubt: changes are noticed sooner */
#define ASSUMED	    (2 * ONE) /* weight of an assumed answer in pairs: it takes longer to doubt */

/* Devices that work in ticks: io.max has slices, null_blk 20 ms, hypervisors 10 to 100. */
#define TICK_NS		(100 * NS_PER_MS) /* the longest */
#define TICK_PAIRS_MOST 24		  /* long pairs (ten seconds): half is boosted */
#define LOOKS		4		  /* looks for silence per window */
#define SILENCES	4 /* times the share of silence: a smaller gain may come from a tick … */
#define SILENT_TICKS	4 /* … of which one in so many was silent: a flush is no tick */

/* Requests in flight, in thousandths: one at a time. More would count short queues as well. */
#define ALONE_MILLI 1250

/* Until the next check whether the domains are free of another pair … */
#define TRIAL_WAIT_NS (16 * NS_PER_MS)
/* … and whether the levels differ: a gain is found later. */
#define TRIAL_LOOK_NS (100 * NS_PER_MS)
