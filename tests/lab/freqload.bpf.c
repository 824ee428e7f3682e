// SPDX-License-Identifier: GPL-2.0-only
/* Keeps each CPU's frequency, and its integral over time, where freqload can read them by mmap. */
#include "freqload_shared.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FREQLOAD_CPUS_MAX);
	__type(key, __u32);
	__type(value, struct freqload_cpu);
} cpus SEC(".maps");

SEC("tp_btf/cpu_frequency")
int BPF_PROG(on_cpu_frequency, unsigned int khz, unsigned int cpu_id)
{
	__u64 now_ns = bpf_ktime_get_ns();
	__u32 key = cpu_id;
	struct freqload_cpu *cpu;

	cpu = bpf_map_lookup_elem(&cpus, &key);
	if (!cpu)
		return 0;

	/* A domain's transitions are serialised by the kernel: one writer at a time. */
	__sync_fetch_and_add(&cpu->sequence, 1);
	if (cpu->khz && now_ns > cpu->since_ns)
		cpu->khz_ns += cpu->khz * (now_ns - cpu->since_ns);
	cpu->khz = khz;
	cpu->since_ns = now_ns;
	__sync_fetch_and_add(&cpu->sequence, 1);
	return 0;
}
