// SPDX-License-Identifier: GPL-2.0-only
/*
 * The least scheduler of sched_ext: it has all tasks, in the kernel's own queue, as no operation
 * that chooses is its own. It asks for no frequency, so that nothing of it calls schedutil.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct sched_ext_ops {
	void (*exit)(void *info);
	char name[128];
} __attribute__((preserve_access_index));

/* Does nothing: libbpf 1.1 reads the kernel's types only where there is such a program. */
SEC("struct_ops/end")
int end(void *context)
{
	return 0;
}

SEC(".struct_ops")
struct sched_ext_ops plain = { .exit = (void *)end, .name = "plain" };

char _license[] SEC("license") = "GPL";
