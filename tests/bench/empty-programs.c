// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the empty programs attached until its standard input ends; says "ready" when they are.
 * Arguments: the tracepoints that get one; none: all.
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "empty.skel.h"

static bool is_wanted(const char *program, int n, char **tracepoints)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(program + strlen("empty_"), tracepoints[i]))
			return true;
	return !n;
}

int main(int argc, char **argv)
{
	struct empty *empty = empty__open();
	struct bpf_program *program;

	if (empty)
		bpf_object__for_each_program(program, empty->obj) bpf_program__set_autoload(
			program, is_wanted(bpf_program__name(program), argc - 1, argv + 1));
	if (!empty || empty__load(empty) < 0 || empty__attach(empty) < 0) {
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
