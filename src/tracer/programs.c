// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/programs.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>

static const struct program_info infos[WAKEGOV_PROGRAMS] = {
	[WAKEGOV_SCHED_SWITCH] = { "sched_switch", "how busy each CPU is", true },
	[WAKEGOV_SCHED_WAKING] = { "sched_waking", "wake-ups from I/O waits", true },
	[WAKEGOV_SCHED_MIGRATE] = { "sched_migrate_task", "boosts that follow their task at once" },
	[WAKEGOV_PROCESS_FORK] = { "sched_process_fork", "how many tasks are created" },
	[WAKEGOV_PROCESS_EXEC] = { "sched_process_exec", "new names of tasks" },
	[WAKEGOV_PROCESS_EXIT] = { "sched_process_exit", "boosts that end with their task" },
	[WAKEGOV_CPU_FREQUENCY] = { "cpu_frequency", "utilisation scaled by frequency" },
	[WAKEGOV_CPU_LIMITS] = { "cpu_frequency_limits", "changed limits at once" },
	[WAKEGOV_TICK] = { "hrtimer_expire_entry", "tasks that run on without a pause" },
	[WAKEGOV_BLOCK_START] = { "block_io_start", "I/O of tasks that do not wait for it" },
	[WAKEGOV_BLOCK_ISSUE] = { "block_rq_issue", "I/O of tasks that do not wait for it" },
};

const struct program_info *program_info(enum wakegov_program program)
{
	return &infos[program];
}

struct bpf_program *program_of(const struct wakegov *skel, enum wakegov_program program)
{
	struct bpf_program *const programs[WAKEGOV_PROGRAMS] = {
		[WAKEGOV_SCHED_SWITCH] = skel->progs.on_sched_switch,
		[WAKEGOV_SCHED_WAKING] = skel->progs.on_sched_waking,
		[WAKEGOV_SCHED_MIGRATE] = skel->progs.on_sched_migrate_task,
		[WAKEGOV_PROCESS_FORK] = skel->progs.on_sched_process_fork,
		[WAKEGOV_PROCESS_EXEC] = skel->progs.on_sched_process_exec,
		[WAKEGOV_PROCESS_EXIT] = skel->progs.on_sched_process_exit,
		[WAKEGOV_CPU_FREQUENCY] = skel->progs.on_cpu_frequency,
		[WAKEGOV_CPU_LIMITS] = skel->progs.on_cpu_frequency_limits,
		[WAKEGOV_TICK] = skel->progs.on_tick,
		[WAKEGOV_BLOCK_START] = skel->progs.on_block_io_start,
		[WAKEGOV_BLOCK_ISSUE] = skel->progs.on_block_rq_issue,
	};

	return programs[program];
}

/* A BTF tracepoint is there when the kernel's BTF has the type of its callback. */
static bool has_tracepoint(const struct btf *kernel, const char *tracepoint)
{
	char type[64];

	snprintf(type, sizeof(type), "btf_trace_%s", tracepoint);
	return btf__find_by_name_kind(kernel, type, BTF_KIND_TYPEDEF) > 0;
}

int programs_probe(struct wakegov *skel, enum tracer_program_state ret[WAKEGOV_PROGRAMS])
{
	struct btf *kernel = btf__load_vmlinux_btf();

	if (!kernel)
		return -ENOENT; /* libbpf's own errno tells where it looked last */
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		ret[i] = has_tracepoint(kernel, infos[i].tracepoint) ? TRACER_ATTACHED
								     : TRACER_MISSING;
	btf__free(kernel);

	/* One source of block requests is enough, and the older one counts requeues twice. */
	if (ret[WAKEGOV_BLOCK_START] == TRACER_ATTACHED)
		ret[WAKEGOV_BLOCK_ISSUE] = TRACER_UNUSED;
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		bpf_program__set_autoload(program_of(skel, i), ret[i] == TRACER_ATTACHED);
	return 0;
}
