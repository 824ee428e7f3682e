/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What happens to frequencies: their changes, changes of limits and the requests behind them, and
 * the end of a suspend.
 */

#include "maps.bpf.h"
#include "wakegov/decay.h"

/*
 * Runs on the CPU that changes the frequency, which may be another than the CPU whose frequency
 * changes. So it only replaces the level: the time since that CPU's last event, a tick at most, is
 * accounted at the new level.
 */
SEC("tp_btf/cpu_frequency")
int BPF_PROG(on_cpu_frequency, unsigned int freq_khz, unsigned int cpu_id)
{
	struct wakegov_cpu *cpu = cpu_at(cpu_id);

	count_event(WAKEGOV_CPU_FREQUENCY);
	if (!cpu || !cpu->max_khz)
		return 0;
	cpu->level_before_q = cpu->load.level_q;
	cpu->level_since_ns = bpf_ktime_get_ns();
	cpu->freq_khz = freq_khz;
	cpu->load.level_q = decay_level_q(cpu->load.capacity, freq_khz, cpu->max_khz);
	return 0;
}

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

static inline bool are_own(const struct wakegov_limits *limits, const struct wakegov_limits *own)
{
	return own->known && limits->governor == own->governor && limits->min_khz == own->min_khz &&
	       limits->max_khz == own->max_khz &&
	       limits->in_force_min_khz == own->in_force_min_khz &&
	       limits->in_force_max_khz == own->in_force_max_khz &&
	       limits->hardware_max_khz == own->hardware_max_khz;
}

/* A governor is set in its writer's own context, limits by a kernel thread. */
static inline void keep_writer(struct wakegov_writer *writer)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (task->flags & PF_KTHREAD || (__u32)task->tgid == settings.own_tgid)
		return;
	writer->at_ns = bpf_ktime_get_ns();
	BPF_CORE_READ_STR_INTO(&writer->comm, task, comm);
	bpf_probe_read_kernel_str(writer->cgroup, sizeof(writer->cgroup),
				  BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, name));
}

/* The daemon's own write is no news, unless limits of others, turbo or the governor changed. */
SEC("tp_btf/cpu_frequency_limits")
int BPF_PROG(on_cpu_frequency_limits, struct cpufreq_policy *policy)
{
	struct wakegov_cpu *cpu = cpu_at(policy->cpu);
	struct wakegov_limits limits = { 0 };

	count_event(WAKEGOV_CPU_LIMITS);
	read_policy(policy, &limits);
	if (cpu && are_own(&limits, &cpu->own_limits))
		return 0;
	if (cpu)
		keep_writer(&cpu->writer);
	keep_news(cpu, WAKEGOV_NEWS_LIMITS);
	emit(WAKEGOV_RECORD_NEWS, 0, 0);
	return 0;
}

#define RESUMED "dpm_resume"

/*
 * Each phase of a suspend begins and ends with this event. At the end of this phase cpufreq
 * restarts its governors. The processes, the daemon included, resume a little later.
 */
SEC("tp_btf/suspend_resume")
int BPF_PROG(on_suspend_resume, const char *action, int value, bool begins)
{
	char phase[sizeof(RESUMED)] = "";

	count_event(WAKEGOV_SUSPEND_RESUME);
	if (begins)
		return 0;
	bpf_probe_read_kernel_str(phase, sizeof(phase), action);
	if (bpf_strncmp(phase, sizeof(phase), RESUMED))
		return 0;
	keep_news(NULL, WAKEGOV_NEWS_RESUME);
	emit(WAKEGOV_RECORD_NEWS, 0, 0);
	return 0;
}
