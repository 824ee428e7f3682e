// SPDX-License-Identifier: GPL-2.0-only
#include "shared/suggest.h"

#include <limits.h>
#include <string.h>

#define LENGTH_MAX   32
#define DISTANCE_MAX 2

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance, with a swap of neighbours as one step. UINT_MAX for long words. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int steps[LENGTH_MAX + 1][LENGTH_MAX + 1];
	size_t length_a = strlen(a), length_b = strlen(b);

	if (length_a > LENGTH_MAX || length_b > LENGTH_MAX)
		return UINT_MAX;
	for (size_t i = 0; i <= length_a; i++)
		steps[i][0] = i;
	for (size_t j = 0; j <= length_b; j++)
		steps[0][j] = j;

	for (size_t i = 1; i <= length_a; i++) {
		for (size_t j = 1; j <= length_b; j++) {
			unsigned int changed = steps[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			unsigned int shifted = least(steps[i - 1][j], steps[i][j - 1]) + 1;

			steps[i][j] = least(changed, shifted);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				steps[i][j] = least(steps[i][j], steps[i - 2][j - 2] + 1);
		}
	}
	return steps[length_a][length_b];
}

bool suggest_matches(const char *typed, const char *meant)
{
	unsigned int steps = distance(typed, meant);

	if (!*typed || steps == UINT_MAX)
		return false;
	return !strncmp(typed, meant, strlen(typed)) ||
	       (steps <= DISTANCE_MAX && 2 * steps < strlen(meant));
}

void suggest_closest(const char *typed, const char *name, const char **closest)
{
	unsigned int steps = distance(typed, name);

	if (steps <= DISTANCE_MAX && (!*closest || steps < distance(typed, *closest)))
		*closest = name;
}
