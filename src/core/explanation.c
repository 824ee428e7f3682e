// SPDX-License-Identifier: GPL-2.0-only
#include "core/explanation.h"

#include <string.h>

void explanation_note(struct explanation *explanation, const struct contender *contender)
{
	uint32_t n = explanation->n_contenders, i;

	if (!contender->cap)
		return;
	explanation->n_contenders++;
	if (n > EXPLANATION_CONTENDERS_MAX)
		n = EXPLANATION_CONTENDERS_MAX;
	/* Equals keep their order, as in the merge. */
	for (i = n; i > 0 && explanation->contenders[i - 1].cap < contender->cap; i--)
		if (i < EXPLANATION_CONTENDERS_MAX)
			explanation->contenders[i] = explanation->contenders[i - 1];
	if (i < EXPLANATION_CONTENDERS_MAX)
		explanation->contenders[i] = *contender;
}
