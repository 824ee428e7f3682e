/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What a machine and the statistics of its last week suggest as a policy. A suggestion is an object
 * with why, a sentence. section and lines are what the policy gets; with to_decide they need a
 * choice that no program can make. One without a section is only worth knowing.
 */

#include <jansson.h>
#include <stdio.h>

/* What to look at. A reply that is not there, NULL, suggests nothing. */
struct recommend_sources {
	const char *sys, *proc; /* the paths of /sys and /proc */
	const json_t *findings; /* as doctor_findings() gives them */
	const json_t *stats;	/* replies of io.wakegov.Stats for the week, … */
	const json_t *status;	/* … Status and … */
	const json_t *rules;	/* … Rules */
};

/* The suggestions, in the order of a policy's sections. NULL without memory. */
json_t *recommend_find(const struct recommend_sources *sources);

/* Prints them as a policy file, the reasons as comments. */
void recommend_print(FILE *file, const json_t *suggestions);
