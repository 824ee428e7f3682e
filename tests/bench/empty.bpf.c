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

SEC("tp_btf/irq_handler_entry")
int empty_irq_handler_entry(void *context)
{
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int empty_irq_handler_exit(void *context)
{
	return 0;
}

SEC("tp_btf/softirq_entry")
int empty_softirq_entry(void *context)
{
	return 0;
}

SEC("tp_btf/softirq_exit")
int empty_softirq_exit(void *context)
{
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int empty_hrtimer_expire_entry(void *context)
{
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int empty_sched_migrate_task(void *context)
{
	return 0;
}
