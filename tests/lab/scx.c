// SPDX-License-Identifier: GPL-2.0-only
/* Has the scheduler of sched_ext in argv[1] run all tasks until SIGTERM. Prints a line when it
 * does. */
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct bpf_object *object = bpf_object__open_file(argc > 1 ? argv[1] : "", NULL);
	struct bpf_link *link = NULL;
	sigset_t ends;
	int number;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (object && bpf_object__load(object) == 0)
		link = bpf_map__attach_struct_ops(bpf_object__next_map(object, NULL));
	if (!link) {
		perror("scx");
		return 1;
	}
	puts("runs");
	fflush(stdout);
	sigwait(&ends, &number);
	bpf_link__destroy(link);
	bpf_object__close(object);
	return 0;
}
