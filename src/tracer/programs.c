// SPDX-License-Identifier: GPL-2.0-only
/* The BPF programs: detects which of them this kernel can load, and attaches them when needed. */
#include "tracer/tracer_private.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/log.h"

#define CALLBACK "btf_trace_"

struct program_info {
	const char *tracepoint;
	bool at_work;	/* runs at events that busy tasks cause all the time */
	bool on_demand; /* attached only while the tracer needs it: programs_need() */
};

static const struct program_info infos[WAKEGOV_PROGRAMS] = {
	[WAKEGOV_SCHED_SWITCH] = { "sched_switch", true },
	[WAKEGOV_SCHED_WAKING] = { "sched_waking", true, true },
	[WAKEGOV_SCHED_MIGRATE] = { "sched_migrate_task" },
	[WAKEGOV_PROCESS_FORK] = { "sched_process_fork" },
	[WAKEGOV_WAKEUP_NEW] = { "sched_wakeup_new" },
	[WAKEGOV_PROCESS_EXEC] = { "sched_process_exec" },
	[WAKEGOV_PROCESS_EXIT] = { "sched_process_exit" },
	[WAKEGOV_IRQ_ENTRY] = { "irq_handler_entry", true, true },
	[WAKEGOV_IRQ_EXIT] = { "irq_handler_exit", true, true },
	[WAKEGOV_SOFTIRQ_RAISE] = { "softirq_raise", true, true },
	[WAKEGOV_INPUT_EVENT] = { "add_input_randomness", false, true },
	[WAKEGOV_CPU_FREQUENCY] = { "cpu_frequency" },
	[WAKEGOV_CPU_LIMITS] = { "cpu_frequency_limits" },
	[WAKEGOV_SUSPEND_RESUME] = { "suspend_resume" },
	[WAKEGOV_TICK] = { "tick" },
	[WAKEGOV_BLOCK_START] = { "block_io_start", true, true },
	[WAKEGOV_BLOCK_ISSUE] = { "block_rq_issue", true, true },
	[WAKEGOV_TASK_RENAME] = { "task_rename" },
	[WAKEGOV_CGROUP_MOVE] = { "cgroup_attach_task" },
	[WAKEGOV_TASK_DUMP] = { "iter/task" },
};

const char *program_tracepoint(enum wakegov_program program)
{
	return infos[program].tracepoint;
}

static struct bpf_program *program_of(const struct wakegov *skel, enum wakegov_program program)
{
	char name[64];

	if (program == WAKEGOV_TASK_DUMP)
		return skel->progs.dump_tasks;
	snprintf(name, sizeof(name), "on_%s", infos[program].tracepoint);
	return bpf_object__find_program_by_name(skel->obj, name);
}

/* The offset of a variable in the section; 0: it is missing. */
static int64_t variable_at(const struct btf *kernel, const struct btf_type *section,
			   const char *name)
{
	const struct btf_var_secinfo *variables = btf_var_secinfos(section);

	for (int i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *variable = btf__type_by_id(kernel, variables[i].type);

		if (!strcmp(btf__name_by_offset(kernel, variable->name_off), name))
			return variables[i].offset;
	}
	return 0;
}

#define PCPU_HOT_PREEMPT_COUNT 8 /* behind current_task; Linux 6.2 to 6.14 */

/* The offset of x86's preempt count from the CPU's run queue; 0: there is no such variable. */
static int64_t preempt_count_at(const struct btf *kernel, const struct btf_type *section)
{
	int64_t count = variable_at(kernel, section, "__preempt_count");
	int64_t hot = variable_at(kernel, section, "pcpu_hot");

	if (!count && hot)
		count = hot + PCPU_HOT_PREEMPT_COUNT;
	return count ? count - variable_at(kernel, section, "runqueues") : 0;
}

/*
 * A kernel may refuse every program at a function, and then the whole object fails to load, or no
 * program is attached there (arm64 before Linux 6.4). So this tries a program that does nothing.
 */
static bool can_attach_at(uint32_t btf_id)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = btf_id);
	_cleanup_close_ int fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", nothing,
					       ARRAY_SIZE(nothing), &options);
	_cleanup_close_ int link = fd < 0 ? fd : bpf_raw_tracepoint_open(NULL, fd);

	return link >= 0;
}

/* Whether it takes one argument, a struct hrtimer *. */
static bool takes_timer(const struct btf *kernel, const struct btf_type *function)
{
	const struct btf_type *type = btf__type_by_id(kernel, function->type);

	if (btf_vlen(type) != 1)
		return false;
	type = btf__type_by_id(kernel, btf_params(type)[0].type);
	type = btf_is_ptr(type) ? btf__type_by_id(kernel, type->type) : type;
	return !strcmp(btf__name_by_offset(kernel, type->name_off), "hrtimer");
}

static void probe_function(struct programs *programs, struct wakegov *skel,
			   const struct btf *kernel, uint32_t id)
{
	const struct btf_type *function = btf__type_by_id(kernel, id);
	const char *name = btf__name_by_offset(kernel, function->name_off);

	if (!strcmp(name, "bpf_rdonly_cast"))
		skel->rodata->casts = true;
	if (!strcmp(name, "bpf_iter_task")) /* of an iterator */
		programs->states[WAKEGOV_TASK_DUMP] = TRACER_ATTACHED;
	if (!strcmp(name, "sugov_effective_cpu_perf")) /* since Linux 6.8 */
		programs->clamps_last = true;
	if (!strcmp(name, infos[WAKEGOV_INPUT_EVENT].tracepoint) && can_attach_at(id))
		programs->states[WAKEGOV_INPUT_EVENT] = TRACER_ATTACHED;
	/*
	 * The tick's, since Linux 6.9 and before. Before, a clock without high resolution has a
	 * function of the first name, which takes no timer. The tracepoint is at each timer's end.
	 */
	if ((!strcmp(name, "tick_nohz_handler") || !strcmp(name, "tick_sched_timer")) &&
	    takes_timer(kernel, function) && can_attach_at(id)) {
		bpf_program__set_expected_attach_type(skel->progs.on_tick, BPF_TRACE_FENTRY);
		bpf_program__set_attach_target(skel->progs.on_tick, 0, name);
	}
}

static void probe_type(struct programs *programs, struct wakegov *skel, const struct btf *kernel,
		       uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(kernel, id);
	const char *name = btf__name_by_offset(kernel, type->name_off);

	switch (btf_kind(type)) {
	case BTF_KIND_TYPEDEF: /* of the callback of a BTF tracepoint */
		if (strncmp(name, CALLBACK, strlen(CALLBACK)) != 0)
			break;
		name += strlen(CALLBACK);
		if (!strcmp(name, "hrtimer_expire_entry"))
			programs->states[WAKEGOV_TICK] = TRACER_ATTACHED;
		for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
			if (!strcmp(name, infos[i].tracepoint))
				programs->states[i] = TRACER_ATTACHED;
		break;
	case BTF_KIND_FUNC:
		probe_function(programs, skel, kernel, id);
		break;
	case BTF_KIND_DATASEC:
		if (!strcmp(name, ".data..percpu"))
			skel->rodata->preempt_count_at = preempt_count_at(kernel, type);
		break;
	case BTF_KIND_STRUCT:
		for (int i = 0; !strcmp(name, "task_io_accounting") && i < btf_vlen(type); i++)
			if (!strcmp(btf__name_by_offset(kernel, btf_members(type)[i].name_off),
				    "read_bytes"))
				programs->accounts_bytes = true;
		break;
	}
}

/*
 * Selects the programs that this kernel supports, in one pass: the kernel has more than 100,000
 * types, and libbpf would search them from the beginning for each name.
 */
static int probe(struct programs *programs, struct wakegov *skel)
{
	enum tracer_program_state *states = programs->states;
	struct btf *kernel = btf__load_vmlinux_btf();

	if (!kernel)
		return -ESRCH; /* libbpf's errno is that of the last place where it looked */
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		states[i] = TRACER_MISSING;
	for (uint32_t id = 1; id < btf__type_cnt(kernel); id++)
		probe_type(programs, skel, kernel, id);
	btf__free(kernel);

	/* One source of block requests suffices, and the older one counts requeues twice. */
	if (states[WAKEGOV_BLOCK_START] == TRACER_ATTACHED)
		states[WAKEGOV_BLOCK_ISSUE] = TRACER_UNUSED;
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		bpf_program__set_autoload(program_of(skel, i), states[i] == TRACER_ATTACHED);
	return 0;
}

__attribute__((format(printf, 2, 0))) static int print_libbpf(enum libbpf_print_level level,
							      const char *format, va_list args)
{
	char line[512];

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = '\0';
	log_debug("libbpf: %s", line);
	return 0;
}

static int load(struct programs *programs, struct wakegov *skel, uint32_t n_cpus, bool timers,
		const char **ret_why)
{
	int r = probe(programs, skel);

	if (r < 0) {
		*ret_why = load_error_words(r);
		return r;
	}
	/*
	 * libbpf searches modules for a function that the kernel lacks, for which the daemon has no
	 * permission. Until libbpf 1.3 the first search fails, and later ones find nothing: so make
	 * one here.
	 */
	if (!skel->rodata->casts)
		bpf_program__set_attach_target(skel->progs.read_task, 0, "no such function");
	bpf_map__set_max_entries(skel->maps.cpus, n_cpus);
	bpf_program__set_autoload(skel->progs.watch_hold, timers);
	r = wakegov__load(skel);
	if (r < 0)
		*ret_why =
			load_error_words(r)
				?: "the kernel refused wakegov's BPF programs: run wakegovd --debug to see "
				   "why, and report it with the kernel's version";
	return r;
}

/* Never one of the standard descriptors; 0: the program was not loaded. */
static int keep(int fd)
{
	int own = fd < 0 ? 0 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	return own < 0 ? 0 : own;
}

static int keep_all(struct programs *programs, const struct wakegov *skel)
{
	static const char *const maps[PROGRAM_MAPS] = {
		[MAP_CPUS] = "cpus",	       [MAP_RECORDS] = "records",
		[MAP_HOLDS] = "holds",	       [MAP_TASK_CLASSES] = "task_classes",
		[MAP_CHAINS] = "chains",       [MAP_MATCHING] = "matching",
		[MAP_PROCESSES] = "processes", [MAP_IDLE_LATENCIES] = "idle_latencies",
		[MAP_PLACED] = "placed",
	};
	void *bss;

	for (int i = 0; i < PROGRAM_MAPS; i++)
		programs->maps[i] = keep(bpf_object__find_map_fd_by_name(skel->obj, maps[i]));
	programs->read_task = keep(bpf_program__fd(skel->progs.read_task));
	programs->read_limits = keep(bpf_program__fd(skel->progs.read_limits));
	programs->watch_hold = keep(bpf_program__fd(skel->progs.watch_hold));
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		programs->fds[i] = keep(bpf_program__fd(program_of(skel, i)));
	programs->bss_bytes = bpf_map__value_size(skel->maps.bss);
	bss = mmap(NULL, programs->bss_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		   bpf_map__fd(skel->maps.bss), 0);
	if (bss == MAP_FAILED)
		return -errno;
	programs->bss = bss;
	return 0;
}

/* Unmaps the pages of the object's image, which libbpf has copied. */
static void unmap_image(const struct bpf_object_skeleton *skeleton)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)skeleton->data + page - 1) / page * page;
	uintptr_t to = ((uintptr_t)skeleton->data + skeleton->data_sz) / page * page;

	if (to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

static int load_and_keep(struct programs *programs, uint32_t n_cpus, bool timers,
			 const char **ret_why)
{
	struct wakegov *skel = wakegov__open();
	int r;

	if (!skel) {
		r = -errno;
		*ret_why = r == -ENOMEM ? load_error_words(r)
					: "the BPF object is damaged: install wakegov again";
		return r;
	}
	r = load(programs, skel, n_cpus, timers, ret_why);
	if (r == 0) {
		*ret_why = "the BPF maps cannot be mapped";
		r = keep_all(programs, skel);
		unmap_image(skel->skeleton);
	}
	wakegov__destroy(skel);
	return r;
}

int programs_load(struct programs *programs, uint32_t n_cpus, const char **ret_why)
{
	int r;

	libbpf_set_print(print_libbpf);
	r = load_and_keep(programs, n_cpus, true, ret_why);
	/*
	 * PREEMPT_RT refuses BPF timers with this error. Without timers tracer_watch_hold() does
	 * nothing.
	 */
	if (r != -EOPNOTSUPP)
		return r;
	r = load_and_keep(programs, n_cpus, false, ret_why);
	if (r == 0)
		log_info(
			"no BPF timers on this kernel (PREEMPT_RT): the daemon wakes up to look for "
			"the ends of boosts");
	return r;
}

static void close_kept(int *fd)
{
	if (*fd > 0)
		close(*fd);
	*fd = 0;
}

static void attach(struct programs *programs, enum wakegov_program program)
{
	int *link = &programs->links[program];
	bool is_dump = program == WAKEGOV_TASK_DUMP;
	bool wanted = programs->needed[program] &&
		      (is_dump || programs->wanted == PROGRAMS_ALL ||
		       (programs->wanted == PROGRAMS_TICKS && !infos[program].at_work));

	if (programs->states[program] != TRACER_ATTACHED || wanted == (*link > 0))
		return;
	if (!wanted) {
		close_kept(link);
		return;
	}
	*link = is_dump ? bpf_link_create(programs->fds[program], 0, BPF_TRACE_ITER, NULL)
			: bpf_raw_tracepoint_open(NULL, programs->fds[program]);
	if (*link > 0)
		return;
	programs->errors[program] = *link;
	programs->states[program] = TRACER_FAILED;
	*link = 0;
}

void programs_need(struct programs *programs, enum wakegov_program program, bool needed)
{
	programs->needed[program] = needed;
	attach(programs, program);
}

void programs_update_needs(struct programs *programs, bool learns)
{
	const volatile struct wakegov_settings *settings = &programs->bss->settings;
	bool clamps = settings->n_clamp_classes ||
		      (settings->follow_own && programs->bss->clamps_seen);
	bool chains = settings->chains;

	programs_need(programs, WAKEGOV_SCHED_WAKING,
		      learns || clamps || settings->placing || chains);
	programs_need(programs, WAKEGOV_IRQ_ENTRY, learns);
	programs_need(programs, WAKEGOV_IRQ_EXIT, learns);
	programs_need(programs, WAKEGOV_SOFTIRQ_RAISE, chains);
	programs_need(programs, WAKEGOV_INPUT_EVENT, chains);
}

void programs_set_wanted(struct programs *programs, enum programs_wanted wanted)
{
	programs->wanted = wanted;
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		attach(programs, i);
}

enum tracer_program_state programs_state(const struct programs *programs,
					 enum wakegov_program program)
{
	enum tracer_program_state state = programs->states[program];

	if (state != TRACER_ATTACHED || programs->links[program])
		return state;
	if (programs->wanted == PROGRAMS_NONE && programs->needed[program])
		return TRACER_PAUSED;
	return TRACER_NOT_NEEDED;
}

int programs_attach(struct programs *programs, const char **ret_why)
{
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		if (!infos[i].on_demand)
			programs_need(programs, i, true);
	if (programs->states[WAKEGOV_SCHED_SWITCH] == TRACER_ATTACHED)
		return 0;
	*ret_why = "switches cannot be traced on this kernel, and wakegov decides by them";
	return -EOPNOTSUPP;
}

void programs_unload(struct programs *programs)
{
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++) {
		close_kept(&programs->links[i]);
		close_kept(&programs->fds[i]);
	}
	for (int i = 0; i < PROGRAM_MAPS; i++)
		close_kept(&programs->maps[i]);
	close_kept(&programs->read_task);
	close_kept(&programs->read_limits);
	close_kept(&programs->watch_hold);
	if (programs->bss)
		munmap(programs->bss, programs->bss_bytes);
}

static uint64_t count_missed(int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (!fd || bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return 0;
	return info.recursion_misses;
}

uint64_t programs_missed(const struct programs *programs)
{
	uint64_t missed = 0;

	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		missed += count_missed(programs->fds[i]);
	return missed;
}

/*
 * Since Linux 7.0 a task can be preempted in a tracepoint's program. Meanwhile the kernel skips
 * that program for other tasks on the CPU.
 */
uint64_t programs_missed_changes(const struct programs *programs)
{
	static const enum wakegov_program reporters[] = { WAKEGOV_PROCESS_EXEC,
							  WAKEGOV_PROCESS_EXIT, WAKEGOV_TASK_RENAME,
							  WAKEGOV_CGROUP_MOVE };
	uint64_t missed = 0;

	for (uint32_t i = 0; i < sizeof(reporters) / sizeof(reporters[0]); i++)
		missed += count_missed(programs->fds[reporters[i]]);
	return missed;
}
