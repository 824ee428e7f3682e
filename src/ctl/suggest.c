// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/suggest.h"

#include <string.h>

#define LENGTH_MAX   32
#define DISTANCE_MAX 2

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance, with a swap of neighbours as one step. */
static size_t distance(const char *a, size_t length_a, const char *b, size_t length_b)
{
	size_t steps[LENGTH_MAX + 1][LENGTH_MAX + 1];

	for (size_t i = 0; i <= length_a; i++)
		steps[i][0] = i;
	for (size_t j = 0; j <= length_b; j++)
		steps[0][j] = j;

	for (size_t i = 1; i <= length_a; i++) {
		for (size_t j = 1; j <= length_b; j++) {
			size_t changed = steps[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			size_t shifted = least(steps[i - 1][j], steps[i][j - 1]) + 1;

			steps[i][j] = least(changed, shifted);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				steps[i][j] = least(steps[i][j], steps[i - 2][j - 2] + 1);
		}
	}
	return steps[length_a][length_b];
}

int suggest_matches(const char *typed, const char *meant)
{
	size_t length_typed = strlen(typed), length_meant = strlen(meant), steps;

	if (!length_typed || length_typed > LENGTH_MAX || length_meant > LENGTH_MAX)
		return 0;
	if (!strncmp(typed, meant, length_typed))
		return 1;

	steps = distance(typed, length_typed, meant, length_meant);
	return steps <= DISTANCE_MAX && 2 * steps < length_meant;
}
