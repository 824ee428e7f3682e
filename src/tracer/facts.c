// SPDX-License-Identifier: GPL-2.0-only
/* The facts of tasks for the rules: selects those that the kernel side reports, and scans all. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "shared/cleanup.h"
#include "tracer/tracer_private.h"

#define SCAN_FACTS 512 /* per read */

void tracer_forget_processes(struct tracer *tracer)
{
	int map = tracer->programs.maps[MAP_PROCESSES];
	uint32_t tgid;

	while (bpf_map_get_next_key(map, NULL, &tgid) == 0 && bpf_map_delete_elem(map, &tgid) == 0)
		;
	tracer->programs.bss->n_processes = 0;
	memset(&tracer->programs.bss->process_shares, 0,
	       sizeof(tracer->programs.bss->process_shares));
}

void tracer_follow_tasks(struct tracer *tracer, const struct tracer_follow *follow)
{
	volatile struct wakegov_settings *settings = &tracer->programs.bss->settings;

	settings->follow = (follow->tasks ? WAKEGOV_FOLLOW_TASKS : 0) |
			   (follow->execs ? WAKEGOV_FOLLOW_EXECS : 0) |
			   (follow->renames ? WAKEGOV_FOLLOW_RENAMES : 0) |
			   (follow->cgroups ? WAKEGOV_FOLLOW_CGROUPS : 0) |
			   (follow->exes || follow->commands ? WAKEGOV_FOLLOW_PROCESSES : 0) |
			   (follow->commands ? WAKEGOV_FOLLOW_COMMANDS : 0);
	if (!(settings->follow & WAKEGOV_FOLLOW_PROCESSES))
		tracer_forget_processes(tracer);
}

void tracer_mark_task(struct tracer *tracer, uint32_t pid, bool matches)
{
	int map = tracer->programs.maps[MAP_MATCHING];
	const uint32_t mark = 1;

	/* If the map has no room for the task, the next scan finds it. */
	if (matches)
		bpf_map_update_elem(map, &pid, &mark, BPF_ANY);
	else
		bpf_map_delete_elem(map, &pid);
}

bool tracer_task_lives(const struct tracer *tracer, uint32_t pid, uint32_t ends)
{
	const volatile uint32_t *counted = &tracer->programs.bss->task_ends[pid % WAKEGOV_ENDS];

	return ends && tracer->programs.links[WAKEGOV_PROCESS_EXIT] &&
	       __atomic_load_n(counted, __ATOMIC_SEQ_CST) + 1 == ends;
}

static int scan(int link, facts_handler_t handle, void *userdata)
{
	struct task_facts all[SCAN_FACTS];
	_cleanup_close_ int fd = -1;
	size_t left = 0; /* bytes of an incomplete record at the end of the last read */
	ssize_t n;

	fd = bpf_iter_create(link);
	if (fd < 0)
		return -errno;
	while ((n = read(fd, (char *)all + left, sizeof(all) - left)) != 0) {
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return -errno;
		left += n;
		for (size_t i = 0; i < left / sizeof(all[0]); i++)
			handle(userdata, &all[i]);
		memmove(all, (char *)all + left / sizeof(all[0]) * sizeof(all[0]),
			left % sizeof(all[0]));
		left %= sizeof(all[0]);
	}
	return 0;
}

int tracer_scan_tasks(struct tracer *tracer, facts_handler_t handle, void *userdata)
{
	int link = tracer->programs.links[WAKEGOV_TASK_DUMP], r = -EOPNOTSUPP;
	struct wakegov__bss *bss = tracer->programs.bss;

	bss->n_stored_found = 0;
	if (link)
		r = scan(link, handle, userdata);
	/* This also counts exits that were missed. */
	if (r == 0)
		bss->n_stored = bss->n_stored_found;
	return r;
}

/* Scans the tasks to which the iterator is restricted. */
static int scan_some(struct tracer *tracer, union bpf_iter_link_info which, facts_handler_t handle,
		     void *userdata)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &which,
		    .iter_info_len = sizeof(which));
	_cleanup_close_ int link = -1;

	if (!tracer->programs.links[WAKEGOV_TASK_DUMP])
		return -EOPNOTSUPP;
	link = bpf_link_create(tracer->programs.fds[WAKEGOV_TASK_DUMP], 0, BPF_TRACE_ITER, &opts);
	return link < 0 ? link : scan(link, handle, userdata);
}

int tracer_scan_process(struct tracer *tracer, uint32_t tgid, facts_handler_t handle,
			void *userdata)
{
	return scan_some(tracer, (union bpf_iter_link_info){ .task.pid = tgid }, handle, userdata);
}

struct search {
	uint32_t pid;
	struct task_facts *found;
	bool is_found;
};

static void match_pid(void *userdata, const struct task_facts *facts)
{
	struct search *search = userdata;

	if (facts->pid != search->pid)
		return;
	*search->found = *facts;
	search->is_found = true;
}

/* Before Linux 6.12 the iterator's filter by thread finds only a process's first thread. */
int tracer_find_task(struct tracer *tracer, uint32_t pid, struct task_facts *ret)
{
	/* cppcheck-suppress ctuuninitvar ; the search fills it */
	struct search search = { pid, ret };
	int r = scan_some(tracer, (union bpf_iter_link_info){ .task.tid = pid }, match_pid,
			  &search);

	if (r == 0 && !search.is_found)
		r = tracer_scan_tasks(tracer, match_pid, &search);
	if (r < 0)
		return r;
	return search.is_found ? 0 : -ESRCH;
}

/* The path's components are in reverse order, each with its NUL. */
static const char *copy_exe(const struct wakegov_process *from, struct process_facts *ret)
{
	const char *name = from->exe, *end = from->exe + from->exe_bytes;
	size_t at = sizeof(ret->exe) - 1;

	if (from->exe_is_long)
		return "its path is too long";
	if (!from->exe_bytes || from->exe_bytes > sizeof(from->exe) || end[-1])
		return "the kernel has none for it";
	for (; name < end; name += strlen(name) + 1) {
		at -= strlen(name) + 1;
		ret->exe[at] = '/';
		memcpy(ret->exe + at + 1, name, strlen(name));
	}
	memmove(ret->exe, ret->exe + at, sizeof(ret->exe) - at);
	return NULL;
}

static const char *copy_command(const struct wakegov_process *from, struct process_facts *ret)
{
	size_t n = from->command_bytes;

	if (!from->command_is_read || n > sizeof(from->command))
		return "it began before any rule with command and has not run since, or its memory "
		       "is swapped out";
	if (n == sizeof(ret->command))
		n--;
	while (n && !from->command[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		ret->command[i] = from->command[i] ?: ' ';
	return NULL;
}

void tracer_read_process(struct tracer *tracer, uint32_t tgid, struct process_facts *ret)
{
	int map = tracer->programs.maps[MAP_PROCESSES];
	struct wakegov_process process;

	*ret = (struct process_facts){ 0 };
	if (bpf_map_lookup_elem(map, &tgid, &process) < 0) {
		ret->exe_unknown = ret->command_unknown =
			"no rule uses it, or too many processes run, in all or of this user, to keep it";
		return;
	}
	ret->exe_unknown = copy_exe(&process, ret);
	ret->command_unknown = copy_command(&process, ret);
}
