// SPDX-License-Identifier: GPL-2.0-only
/* Programs that do nothing, where wakegov's are: what a run costs before its first instruction. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sched_switch")
int empty_sched_switch(void *context)
{
	return 0;
}

SEC("tp_btf/sched_waking")
int empty_sched_waking(void *context)
{
	return 0;
}

SEC("tp_btf/block_io_start")
int empty_block_io_start(void *context)
{
	return 0;
}

SEC("fentry/tick_nohz_handler")
int empty_tick(void *context)
{
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int empty_sched_migrate_task(void *context)
{
	return 0;
}
