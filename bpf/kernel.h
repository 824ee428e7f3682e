/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The kernel's types, reduced to the fields that wakegov uses. CO-RE relocates each field by name
 * at load, so one object runs on every kernel that has them, and the list is complete.
 */

#include <linux/types.h>
#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
	__u32 cpu;
	__u32 preempt_count; /* not on x86; on arm64 its lower half */
};

struct uclamp_se {
	unsigned int value : 11;
	unsigned int user_defined : 1;
};

struct kernfs_node {
	__u64 id;
	const char *name;
	struct kernfs_node *parent; /* __parent since 6.15 */
	void *priv;		    /* of a directory in sysfs: the kobject */
};

struct kernfs_node___6_15 {
	struct kernfs_node *__parent;
};

struct kernfs_open_file {
	struct kernfs_node *kn;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t uid;
	kuid_t euid;
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	int nr_threads;
	atomic_t live;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct super_block {
	unsigned long s_magic;
};

struct inode {
	struct super_block *i_sb;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
	void *private_data;
};

struct fdtable {
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct seq_file {
	void *private;
};

struct mm_struct {
	unsigned long arg_start;
	unsigned long arg_end;
	struct file *exe_file;
};

struct task_io_accounting {
	__u64 read_bytes;
	__u64 write_bytes;
};

struct dl_rq {
	__u64 running_bw; /* of the deadline tasks that are active, · 2^20 */
};

struct sched_avg {
	unsigned long runnable_avg; /* Linux 5.7 */
	unsigned long util_avg;
};

struct cfs_rq {
	struct sched_avg avg;
	struct rq *rq; /* CONFIG_FAIR_GROUP_SCHED */
};

struct rq {
	unsigned int nr_running;
	__u64 clock;
	struct cfs_rq cfs;
	struct dl_rq dl;
};

struct sched_entity {
	__u64 sum_exec_runtime, prev_sum_exec_runtime;
	struct sched_avg avg;
	struct cfs_rq *cfs_rq; /* of the CPU, whatever the task's class */
};

struct sched_info {
	unsigned long long run_delay; /* CONFIG_SCHED_INFO */
};

struct task_struct {
	struct thread_info thread_info;
	int pid;
	int tgid;
	unsigned int flags;
	unsigned int policy;
	int prio;
	int static_prio;
	struct sched_entity se;
	struct sched_info sched_info;
	unsigned long nvcsw;
	struct mm_struct *mm;
	__u64 start_time; /* CLOCK_MONOTONIC */
	__u64 start_boottime;
	const struct cred *cred;
	struct css_set *cgroups;
	struct files_struct *files;
	struct signal_struct *signal;
	unsigned in_iowait : 1;
	int softirq_disable_cnt; /* PREEMPT_RT */
	struct task_struct *real_parent;
	char comm[16];
	struct task_io_accounting ioac;
	struct bpf_local_storage *bpf_storage;
	struct uclamp_se uclamp_req[2]; /* asked for: min, max … */
	struct uclamp_se uclamp[2];	/* … and within what its cgroup and the sysctls allow */
};

struct plist_node {
	int prio;
};

struct freq_qos_request {
	struct plist_node pnode;
};

struct kobject {
	const char *name;
};

struct cpufreq_cpuinfo {
	unsigned int max_freq;
};

struct cpufreq_policy {
	unsigned int cpu;
	struct cpufreq_cpuinfo cpuinfo;
	unsigned int min;
	unsigned int max;
	struct cpufreq_governor *governor;
	struct freq_qos_request *min_freq_req; /* in 7.x not pointers */
	struct freq_qos_request *max_freq_req;
	struct kobject kobj;
};

struct cpufreq_policy___7_x {
	struct freq_qos_request min_freq_req;
	struct freq_qos_request max_freq_req;
};

struct gendisk {
	char disk_name[32];
	__u64 diskseq;
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
};

/* timerqueue_linked_node in 7.x */
struct timerqueue_node {
	__s64 expires;
};

struct hrtimer {
	struct timerqueue_node node;
};

struct irqaction {
	unsigned int flags;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#define CLOCK_MONOTONIC	     1
#define REQ_OP_WRITE	     1		/* include/linux/blk_types.h: set in all that write */
#define TASK_UNINTERRUPTIBLE 2		/* include/linux/sched.h */
#define PF_IDLE		     0x00000002 /* include/linux/sched.h */
#define PF_EXITING	     0x00000004
#define PF_IO_WORKER	     0x00000010
#define PF_KTHREAD	     0x00200000
#define SCHED_IDLE	     5	 /* include/uapi/linux/sched.h */
#define MAX_RT_PRIO	     100 /* include/linux/sched/prio.h; lower numbers are real-time */
#define DEFAULT_PRIO	     120 /* the same: nice 0 */

/* Whether it is a thread of the kernel whose name begins with these eight characters. */
static inline bool is_kthread(const struct task_struct *task, const char *name)
{
	__u64 begin;

	__builtin_memcpy(&begin, name, sizeof(begin));
	return *(const __u64 *)(const void *)task->comm == begin && task->flags & PF_KTHREAD;
}
