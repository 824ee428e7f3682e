// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the empty programs attached until its standard input ends; says "ready" when they are. */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>

#include "empty.skel.h"

int main(void)
{
	struct empty *empty = empty__open_and_load();

	if (!empty || empty__attach(empty) < 0) {
		fprintf(stderr, "empty-programs: cannot be loaded: be root\n");
		return EXIT_FAILURE;
	}
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	empty__destroy(empty);
	return EXIT_SUCCESS;
}
