// SPDX-License-Identifier: GPL-2.0-only
/* Says of which class it is, by the header that programs include, and works until it is killed. */
#include <stdio.h>

#include "wakegov/hint.h"

int main(int argc, char **argv)
{
	volatile unsigned long work = 0;
	int hint = wakegov_hint(argc > 1 ? argv[1] : "background");

	printf("%d\n", hint < 0 ? hint : 0);
	fflush(stdout);
	if (hint < 0)
		return 1;
	for (;;)
		work++;
}
