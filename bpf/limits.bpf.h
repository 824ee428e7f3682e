/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The requests behind scaling_min_freq and scaling_max_freq, and the resulting limits. */

#include "kernel.h"
#include "wakegov/abi.h"

#define SYSFS_MAGIC 0x62656572 /* include/uapi/linux/magic.h */

/* The cpufreq policy whose directory in sysfs has this open file, as in sysfs_file_kobj(). */
static inline struct cpufreq_policy *policy_of(const struct file *file)
{
	struct seq_file *seq = BPF_CORE_READ(file, private_data);
	struct kernfs_open_file *open_file = BPF_CORE_READ(seq, private);
	struct kernfs_node *node = BPF_CORE_READ(open_file, kn), *parent;
	void *kobj;

	if (bpf_core_field_exists(struct kernfs_node, parent))
		parent = BPF_CORE_READ(node, parent);
	else
		parent = BPF_CORE_READ((struct kernfs_node___6_15 *)node, __parent);
	kobj = BPF_CORE_READ(parent, priv);
	return kobj - bpf_core_field_offset(struct cpufreq_policy, kobj);
}

static inline void read_policy(const struct cpufreq_policy *policy, struct wakegov_limits *limits)
{
	const struct cpufreq_policy___7_x *newer = (const void *)policy;

	limits->in_force_min_khz = BPF_CORE_READ(policy, min);
	limits->in_force_max_khz = BPF_CORE_READ(policy, max);
	limits->hardware_max_khz = BPF_CORE_READ(policy, cpuinfo.max_freq);
	limits->governor = (__u64)BPF_CORE_READ(policy, governor);
	if (bpf_core_field_exists(newer->min_freq_req)) {
		limits->min_khz = BPF_CORE_READ(newer, min_freq_req.pnode.prio);
		limits->max_khz = BPF_CORE_READ(newer, max_freq_req.pnode.prio);
	} else {
		limits->min_khz = BPF_CORE_READ(policy, min_freq_req, pnode.prio);
		limits->max_khz = BPF_CORE_READ(policy, max_freq_req, pnode.prio);
	}
}

/* The daemon runs this with a descriptor of its own. */
SEC("syscall")
int read_limits(struct wakegov_limits *limits)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file **files = BPF_CORE_READ(task, files, fdt, fd), *file = NULL;

	bpf_probe_read_kernel(&file, sizeof(file), files + limits->fd);
	limits->known = BPF_CORE_READ(file, f_inode, i_sb, s_magic) == SYSFS_MAGIC;
	if (limits->known)
		read_policy(policy_of(file), limits);
	return 0;
}
